import { Refusal } from '@pixgate/spec'
import type { Operator } from '../audit/operator.ts'
import { insertAudit } from '../audit/store.ts'
import type { Clock } from '../platform/clock.ts'
import { type Database, type Queries, refusableTransaction } from '../platform/db/database.ts'
import type { Ids } from '../platform/ids.ts'
import { type LiveRequest, refuseLapsed } from '../platform/live-request.ts'
import type { Sealer } from '../platform/sealing.ts'
import { decidePromotion, decideRetirement, type Order } from './rules.ts'
import { generateKey, isKeyId, type SigningKey } from './signing-key.ts'
import { findKey, insertNextKey, lockKeys, promoteKey, publishedKeys, replaceCurrentKey, retireKey } from './store.ts'

/** What the commands work with. */
export interface SigningKeyDependencies {
  readonly database: Database
  readonly clock: Clock
  readonly ids: Ids
  readonly sealer: Sealer
}

/** Who orders, and whether that still counts. */
export interface Ordering {
  readonly operator: Operator
  readonly live: LiveRequest
}

/**
 * Makes the next key. It is published from now on.
 * @throws Refusal next_signing_key_exists (409) · overloaded (503) the request has lapsed · DatabaseUnavailable
 * @source rules#signing-keys.1, rules#signing-keys.6
 */
export function makeNextKey(
  dependencies: SigningKeyDependencies,
  { reason }: Pick<Order, 'reason'>,
  ordering: Ordering,
): Promise<SigningKey> {
  return changeKeys(dependencies, ordering, async (queries, nowMs, audit) => {
    if (await inState(queries, 'next')) throw new Refusal('next_signing_key_exists')
    const key = await insertNextKey(queries, generateKey(dependencies.sealer), nowMs)
    await audit('signing_key.made', key.id, { reason })
    return key
  })
}

/**
 * Lets the next key sign: the current one becomes the previous one, and a previous one is retired. Where it signs already,
 * nothing changes.
 * @throws Refusal not_found (404) · signing_key_state_conflict (409) · signing_key_too_soon (409) · overloaded (503) the
 *   request has lapsed · DatabaseUnavailable
 * @source rules#signing-keys.1, rules#signing-keys.2, rules#signing-keys.6
 */
export function promoteNextKey(
  dependencies: SigningKeyDependencies,
  id: string,
  order: Order,
  ordering: Ordering,
): Promise<SigningKey> {
  return changeKeys(dependencies, ordering, async (queries, nowMs, audit) => {
    const key = await existing(queries, id)
    if (!decidePromotion(key, order, nowMs)) return key
    const previous = await inState(queries, 'previous')
    if (previous) await retireKey(queries, previous, nowMs)
    const replaced = await replaceCurrentKey(queries, nowMs)
    const promoted = await promoteKey(queries, id, nowMs)
    await audit('signing_key.promoted', id, { ...order, replaced, ...(previous && { retired: previous.id }) })
    return promoted
  })
}

/**
 * Publishes a key no more: the previous one, or a next one that is not wanted. Where it is retired already, nothing
 * changes.
 * @throws Refusal as {@link promoteNextKey}
 * @source rules#signing-keys.1, rules#signing-keys.2, rules#signing-keys.6
 */
export function retireSigningKey(
  dependencies: SigningKeyDependencies,
  id: string,
  order: Order,
  ordering: Ordering,
): Promise<SigningKey> {
  return changeKeys(dependencies, ordering, async (queries, nowMs, audit) => {
    const key = await existing(queries, id)
    if (!decideRetirement(key, order, nowMs)) return key
    const retired = await retireKey(queries, key, nowMs)
    await audit('signing_key.retired', id, { ...order, was: key.state })
    return retired
  })
}

type Audit = (action: string, subject: string, facts: Readonly<Record<string, unknown>>) => Promise<void>

/** Changes the states of keys in one transaction, one operator at a time, with a row in the audit trail. */
function changeKeys<Result>(
  { database, clock, ids }: SigningKeyDependencies,
  { operator, live }: Ordering,
  change: (queries: Queries, nowMs: number, audit: Audit) => Promise<Result>,
): Promise<Result> {
  return refusableTransaction(database, async (queries) => {
    await lockKeys(queries)
    refuseLapsed(live)
    const nowMs = clock.now()
    return change(queries, nowMs, (action, subject, facts) =>
      insertAudit(queries, { ...operator, id: ids.uuid(), at: nowMs, action, subject, facts }),
    )
  })
}

async function existing(queries: Queries, id: string): Promise<SigningKey> {
  // What no id can be the database may not even be able to look for: U+0000.
  const key = isKeyId(id) ? await findKey(queries, id) : undefined
  if (key === undefined) throw new Refusal('not_found')
  return key
}

async function inState(queries: Queries, state: SigningKey['state']): Promise<SigningKey | undefined> {
  return (await publishedKeys(queries)).find((key) => key.state === state)
}
