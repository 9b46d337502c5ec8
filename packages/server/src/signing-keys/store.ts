import { instantParameter, type Queries, statement } from '../platform/db/database.ts'
import type { NewSigningKey, SealedKey, SigningKey, SigningKeyState } from './signing-key.ts'

/** All SQL of the signing keys. */

const KEY = `id, state, public_pem AS "publicPem", created_at AS "createdAt", promoted_at AS "promotedAt",
  replaced_at AS "replacedAt", retired_at AS "retiredAt"`

const listKeysStatement = statement<[number], SigningKey>(
  'signingKeys.list',
  `SELECT ${KEY} FROM signing_key ORDER BY state = 'retired', created_at DESC, id LIMIT $1`,
)

/** Those that are not retired first, then the newest. */
export function listKeys(queries: Queries, max: number): Promise<SigningKey[]> {
  return queries.rows(listKeysStatement, [max])
}

const publishedKeysStatement = statement<[], SigningKey>(
  'signingKeys.published',
  `SELECT ${KEY} FROM signing_key WHERE state <> 'retired' ORDER BY created_at DESC, id`,
)

/** All that may verify anything, the newest first. */
export function publishedKeys(queries: Queries): Promise<SigningKey[]> {
  return queries.rows(publishedKeysStatement, [])
}

const findKeyStatement = statement<[string], SigningKey>(
  'signingKeys.find',
  `SELECT ${KEY} FROM signing_key WHERE id = $1`,
)

/** A key by its id. */
export async function findKey(queries: Queries, id: string): Promise<SigningKey | undefined> {
  return (await queries.rows(findKeyStatement, [id]))[0]
}

const currentKeyStatement = statement<[], SealedKey>(
  'signingKeys.current',
  `SELECT id, private_key AS "privateKey" FROM signing_key WHERE state = 'current'`,
)

/** The key that signs; none before the first start. */
export async function currentKey(queries: Queries): Promise<SealedKey | undefined> {
  return (await queries.rows(currentKeyStatement, []))[0]
}

const sealedKeysStatement = statement<[], SealedKey>(
  'signingKeys.sealed',
  `SELECT id, private_key AS "privateKey" FROM signing_key WHERE private_key IS NOT NULL ORDER BY created_at, id`,
)

/** Every private half that is kept. */
export function sealedKeys(queries: Queries): Promise<SealedKey[]> {
  return queries.rows(sealedKeysStatement, [])
}

const lockKeysStatement = statement<[], never>('signingKeys.lock', 'SELECT pg_advisory_xact_lock(7046741003)')

/** Holds off whoever else changes the states of keys, until the transaction ends. */
export async function lockKeys(queries: Queries): Promise<void> {
  await queries.rows(lockKeysStatement, [])
}

const insertFirstKeyStatement = statement<[string, string, Buffer, string]>(
  'signingKeys.insertFirst',
  `INSERT INTO signing_key (id, public_pem, private_key, state, created_at, promoted_at)
   VALUES ($1, $2, $3, 'current', $4, $4)
       ON CONFLICT (state) WHERE state = 'current' DO NOTHING`,
)

/** Stores a key as the current one, unless there is one. */
export async function insertFirstKey(queries: Queries, key: NewSigningKey, createdAt: number): Promise<void> {
  await queries.rows(insertFirstKeyStatement, [key.id, key.publicPem, key.privateKey, instantParameter(createdAt)])
}

const insertNextKeyStatement = statement<[string, string, Buffer, string], SigningKey>(
  'signingKeys.insertNext',
  `INSERT INTO signing_key (id, public_pem, private_key, state, created_at)
   VALUES ($1, $2, $3, 'next', $4)
   RETURNING ${KEY}`,
)

/** Stores a key as the next one. There must be none. */
export async function insertNextKey(queries: Queries, key: NewSigningKey, createdAt: number): Promise<SigningKey> {
  const parameters = [key.id, key.publicPem, key.privateKey, instantParameter(createdAt)] as const
  return one(await queries.rows(insertNextKeyStatement, [...parameters]))
}

const promoteKeyStatement = statement<[string, string], SigningKey>(
  'signingKeys.promote',
  `UPDATE signing_key SET state = 'current', promoted_at = $2 WHERE id = $1 AND state = 'next' RETURNING ${KEY}`,
)

/** The next key signs from now on. Nothing else may be current. */
export async function promoteKey(queries: Queries, id: string, nowMs: number): Promise<SigningKey> {
  return one(await queries.rows(promoteKeyStatement, [id, instantParameter(nowMs)]))
}

const replaceCurrentKeyStatement = statement<[string], { id: string }>(
  'signingKeys.replaceCurrent',
  `UPDATE signing_key SET state = 'previous', replaced_at = $1 WHERE state = 'current' RETURNING id`,
)

/** The current key signs no more: the database erases its private half. @returns its id */
export async function replaceCurrentKey(queries: Queries, nowMs: number): Promise<string> {
  return one(await queries.rows(replaceCurrentKeyStatement, [instantParameter(nowMs)])).id
}

const retireKeyStatement = statement<[string, SigningKeyState, string], SigningKey>(
  'signingKeys.retire',
  `UPDATE signing_key SET state = 'retired', retired_at = $3 WHERE id = $1 AND state = $2 RETURNING ${KEY}`,
)

/** A key is published no more, and can sign nothing. @param state that it is in */
export async function retireKey(
  queries: Queries,
  { id, state }: Pick<SigningKey, 'id' | 'state'>,
  nowMs: number,
): Promise<SigningKey> {
  return one(await queries.rows(retireKeyStatement, [id, state, instantParameter(nowMs)]))
}

const resealKeyStatement = statement<[string, Buffer, Buffer], { isDone: boolean }>(
  'signingKeys.reseal',
  'SELECT reseal_signing_key($1, $2, $3) AS "isDone"',
)

/** Stores a private half as it was sealed anew. @returns whether it was still the one that was read */
export async function resealKey(queries: Queries, { id, privateKey }: SealedKey, anew: Buffer): Promise<boolean> {
  return one(await queries.rows(resealKeyStatement, [id, privateKey, anew])).isDone
}

function one<Row>([row]: readonly Row[]): Row {
  if (row === undefined) throw new Error('the signing key is not in the state that it was read in')
  return row
}
