import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { type EventType, eventSchemas, testEventSchema } from '@pixgate/spec'
import { Ajv } from 'ajv'
import { closed } from '../../../spec/test/support/closed.ts'
import { formats } from '../../src/platform/http/request.ts'
import { type Receiver, startReceiver } from './webhook-receiver.ts'

const ajv = new Ajv({ strict: false, allErrors: true, formats })
const schemas = Object.entries({ ...eventSchemas, webhook_test: testEventSchema })
const published = new Map(schemas.map(([type, schema]) => [type, ajv.compile(closed(schema))]))

/**
 * Fails where a notification is not what the published schema of its type says, or has a field more.
 * @param body its bytes as they were signed
 */
export function assertPublished(eventType: EventType, body: Buffer): void {
  const isPublished = published.get(eventType)
  assert.ok(isPublished, `${eventType} is no type of event`)
  const told = JSON.parse(body.toString())
  assert.ok(isPublished(told), `${body}: ${ajv.errorsText(isPublished.errors)}`)
}

/** Starts a receiver of what the service tells; the test fails where that is not what the published schemas say. */
export async function startOurReceiver(t: TestContext): Promise<Receiver> {
  const receiver = await startReceiver(t)
  t.after(() => {
    for (const { body } of receiver.received) assertPublished(JSON.parse(body.toString()).event_type, body)
  })
  return receiver
}
