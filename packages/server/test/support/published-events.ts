import assert from 'node:assert/strict'
import { type EventType, eventSchemas } from '@pixgate/spec'
import { Ajv } from 'ajv'
import { formats } from '../../src/platform/http/formats.ts'

const ajv = new Ajv({ strict: false, allErrors: true, formats })
const published = new Map(Object.entries(eventSchemas).map(([type, schema]) => [type, ajv.compile(schema)]))

/**
 * Fails where a notification is not what the published schema of its type says.
 * @param body its bytes as they were signed
 */
export function assertPublished(eventType: EventType, body: Buffer): void {
  const isPublished = published.get(eventType)
  assert.ok(isPublished, `${eventType} is no type of event`)
  const told = JSON.parse(body.toString())
  assert.ok(isPublished(told), `${body}: ${ajv.errorsText(isPublished.errors)}`)
}
