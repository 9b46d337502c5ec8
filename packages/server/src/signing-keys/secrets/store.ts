import { instantParameter, type Queries, statement } from '../../platform/db/database.ts'
import type { SealedSecret } from './secret.ts'

/** All SQL of the receivers' secrets; what signs a delivery is read with its claim. */

/** A secret that signs, of what may be shown. Instants are epoch milliseconds. */
export interface SigningSecret {
  readonly createdAt: number
  /** From when on it signs no more; `null`: it is the newest. */
  readonly expiresAt: number | null
}

const listSecretsStatement = statement<[string, string], SigningSecret>(
  'webhookSecrets.list',
  `SELECT created_at AS "createdAt", expires_at AS "expiresAt"
     FROM webhook_secret
    WHERE subscription_id = $1 AND secret IS NOT NULL AND (expires_at IS NULL OR expires_at > $2)
    ORDER BY created_at DESC, id DESC`,
)

/** The secrets that sign what a receiver gets, the newest first. */
export function listSecrets(queries: Queries, subscriptionId: string, nowMs: number): Promise<SigningSecret[]> {
  return queries.rows(listSecretsStatement, [subscriptionId, instantParameter(nowMs)])
}

const sealedOfStatement = statement<[subscriptionIds: readonly string[], now: string], SealedSecret>(
  'webhookSecrets.sealedOf',
  `SELECT subscription_id AS "subscriptionId", id, secret
     FROM webhook_secret
    WHERE subscription_id = ANY ($1::uuid[]) AND secret IS NOT NULL AND (expires_at IS NULL OR expires_at > $2)
    ORDER BY created_at DESC, id DESC`,
)

/** What signs for these receivers, of each the newest first. */
export function sealedOf(queries: Queries, subscriptionIds: readonly string[], nowMs: number): Promise<SealedSecret[]> {
  return queries.rows(sealedOfStatement, [subscriptionIds, instantParameter(nowMs)])
}

const insertSecretStatement = statement<[string, string, Buffer, string]>(
  'webhookSecrets.insert',
  'INSERT INTO webhook_secret (subscription_id, id, secret, created_at) VALUES ($1, $2, $3, $4)',
)

/** Adds a secret as the newest. There must be none that has no end. */
export async function insertSecret(queries: Queries, sealed: SealedSecret, nowMs: number): Promise<void> {
  const { subscriptionId, id, secret } = sealed
  await queries.rows(insertSecretStatement, [subscriptionId, id, secret, instantParameter(nowMs)])
}

// What ends now is erased in the same breath: a process whose clock is behind would else go on signing with it.
const endSecretsStatement = statement<[subscriptionId: string, expiresAt: string, erasedAt: string | null]>(
  'webhookSecrets.end',
  `UPDATE webhook_secret SET expires_at = least(expires_at, $2), erased_at = $3
    WHERE subscription_id = $1 AND secret IS NOT NULL`,
)

/** All secrets of a receiver sign no more from then on; where that is now, whatever a process believes the time to be. */
export async function endSecrets(
  queries: Queries,
  subscriptionId: string,
  expiresAt: number,
  nowMs: number,
): Promise<void> {
  const erasedAt = expiresAt <= nowMs ? instantParameter(nowMs) : null
  await queries.rows(endSecretsStatement, [subscriptionId, instantParameter(expiresAt), erasedAt])
}

const eraseSecretsStatement = statement<[string]>(
  'webhookSecrets.erase',
  'UPDATE webhook_secret SET erased_at = $1 WHERE secret IS NOT NULL AND expires_at <= $1',
)

/** Erases what signs no more. @source rules#webhook-secrets.3 */
export async function eraseSecrets(queries: Queries, nowMs: number): Promise<void> {
  await queries.rows(eraseSecretsStatement, [instantParameter(nowMs)])
}

const sealedSecretsStatement = statement<[], SealedSecret>(
  'webhookSecrets.sealed',
  `SELECT subscription_id AS "subscriptionId", id, secret
     FROM webhook_secret
    WHERE secret IS NOT NULL
    ORDER BY created_at, id`,
)

/** Every secret that is kept. */
export function sealedSecrets(queries: Queries): Promise<SealedSecret[]> {
  return queries.rows(sealedSecretsStatement, [])
}

const resealSecretStatement = statement<[string, string, Buffer, Buffer], { isDone: boolean }>(
  'webhookSecrets.reseal',
  'SELECT reseal_webhook_secret($1, $2, $3, $4) AS "isDone"',
)

/** Stores a secret as it was sealed anew. @returns whether it was still the one that was read */
export async function resealSecret(queries: Queries, sealed: SealedSecret, anew: Buffer): Promise<boolean> {
  const { subscriptionId, id, secret } = sealed
  return (await queries.rows(resealSecretStatement, [subscriptionId, id, secret, anew]))[0]?.isDone === true
}
