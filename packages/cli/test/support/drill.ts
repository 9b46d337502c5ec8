import assert from 'node:assert/strict'
import { type FeedEvent, Pixgate } from '../../../sdk/src/index.ts'
import { publicKeys, verifyWebhook } from '../../../sdk/src/webhooks.ts'
import type { World } from '../../../server/test/support/world.ts'

/** What a receiver answered 2xx to, in the order of its answers. */
export interface Taken {
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  readonly body: Buffer
}

/** The first events of the feed, once there are so many: an event comes to the feed after its operation has changed. */
export async function feedOf(pix: World, count: number): Promise<FeedEvent[]> {
  const pixgate = new Pixgate({ url: pix.url, apiKey: pix.apiKey })
  const events: FeedEvent[] = []
  for (let cursor: string | undefined; events.length < count; ) {
    const { data, pagination } = await pixgate.events.list({ cursor, limit: 100, wait: 20 }).page()
    events.push(...data)
    cursor = pagination.nextCursor
  }
  return events
}

/** Two events of one payout. */
export async function payAndReverse(pix: World): Promise<void> {
  const { id } = await pix.cashOut({ value: 1 })
  await pix.until(`/api/pix/cash-out/${id}`, ({ status }) => status === 'CONFIRMED')
  await pix.bankAction(`payouts/${id}/reverse`)
  await pix.until(`/api/pix/cash-out/${id}`, ({ status }) => status === 'REVERSED')
}

/** Nothing is lost, bytes are those of the feed, signatures are right, and events of one operation first came in their order. */
export async function assertAllTaken(
  pix: World,
  events: readonly FeedEvent[],
  taken: readonly Taken[],
  secret: string,
) {
  const bodies = new Map(events.map(({ id, body }) => [id, body]))
  const keys = publicKeys(pix.url)
  for (const { headers, body } of taken) {
    const id = String(headers['webhook-id'])
    assert.equal(body.toString(), bodies.get(id), 'the same bytes')
    const sentAt = Number(headers['webhook-timestamp']) * 1_000
    await verifyWebhook({ headers: headers as Record<string, string>, body }, { secret, keys, now: () => sentAt })
  }
  const first = new Map<string, string[]>()
  const seen = new Set<string>()
  for (const { headers, body } of taken) {
    const id = String(headers['webhook-id'])
    const operation: string = JSON.parse(body.toString()).event.id
    if (!seen.has(id)) first.set(operation, [...(first.get(operation) ?? []), id])
    seen.add(id)
  }
  const expected = Map.groupBy(events, ({ body }) => JSON.parse(body).event.id as string)
  assert.deepEqual(
    Object.fromEntries(first),
    Object.fromEntries([...expected].map(([operation, found]) => [operation, found.map(({ id }) => id)])),
  )
}
