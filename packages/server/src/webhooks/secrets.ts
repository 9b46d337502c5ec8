import { createHmac, createSecretKey, type KeyObject, randomBytes } from 'node:crypto'
import { limits, Refusal } from '@pixgate/spec'
import { LRUCache } from 'lru-cache'
import { instantParameter, type Queries, statement } from '../platform/db/database.ts'
import type { Ids } from '../platform/ids.ts'
import type { Logger } from '../platform/log.ts'
import { andMore, createLogThrottle } from '../platform/runtime.ts'
import type { Place, Sealer } from '../platform/sealing.ts'
import { type SealedValue, Unreadable, unseal } from './sealed.ts'

/** Secrets shared with endpoints, for the second signature of a notification (Standard Webhooks). */

export interface WebhookSecret {
  readonly endpointId: string
  readonly id: string
  readonly secret: Buffer
  readonly createdAt: number
  /** `null` for the newest. */
  readonly expiresAt: number | null
}

export type SealedSecret = Pick<WebhookSecret, 'endpointId' | 'id' | 'secret'>

/**
 * Creates the newest secret of an endpoint. Earlier ones sign until the overlap ends, and no longer than before. The
 * caller holds the lock of the endpoint.
 * @param overlapSeconds 0 when a secret has leaked
 * @returns the secret in the form of Standard Webhooks, `whsec_` and the bytes in Base64; shown once
 * @throws Refusal too_many_webhook_secrets (409) when the maximum already signs
 * @source rules#webhook-secrets.1, rules#webhook-secrets.2, rules#webhook-secrets.3, rules#encryption.1
 */
export async function makeSecret(
  { ids, sealer }: { readonly ids: Ids; readonly sealer: Sealer },
  queries: Queries,
  endpointId: string,
  nowMs: number,
  overlapSeconds: number,
): Promise<{ readonly id: string; readonly text: string }> {
  const signing = await listSecrets(queries, endpointId, nowMs)
  if (overlapSeconds > 0 && signing.length >= limits.webhookSecretsMax) throw new Refusal('too_many_webhook_secrets')
  const bytes = randomBytes(limits.webhookSecretBytes)
  const id = ids.uuid()
  const secret = sealer.seal(bytes, placeOf(endpointId, id))
  await endSecrets(queries, endpointId, nowMs + overlapSeconds * 1_000, nowMs)
  await queries.rows(insertSecretStatement, [endpointId, id, secret, instantParameter(nowMs)])
  return { id, text: `whsec_${bytes.toString('base64')}` }
}

/** The endpoint is part of the place: a value moved to another endpoint does not open. */
function placeOf(endpointId: string, id: string): Place {
  return { table: 'webhook_secret', row: `${endpointId} ${id}`, column: 'secret' }
}

const resealStatement = statement<[string, string, Buffer, Buffer], { isDone: boolean }>(
  'webhookSecrets.reseal',
  'SELECT reseal_webhook_secret($1, $2, $3, $4) AS "isDone"',
)

function sealedValue({ endpointId, id, secret }: SealedSecret): SealedValue {
  return {
    kind: 'webhook_secret',
    id,
    sealed: secret,
    place: placeOf(endpointId, id),
    name: `the secret ${id} of the webhook endpoint ${endpointId}`,
    reseal: async (queries, anew) =>
      (await queries.rows(resealStatement, [endpointId, id, secret, anew]))[0]?.isDone === true,
  }
}

/** Every stored secret, to be sealed anew. */
export async function readSealedSecrets(queries: Queries): Promise<SealedValue[]> {
  return (await queries.rows(listSecretsStatement, [null, '-infinity'])).map(sealedValue)
}

/** Opens the secrets that sign a notification. */
export type OpenSecrets = (sealed: readonly SealedSecret[]) => KeyObject[]

/** More than the endpoints of an installation have. */
const OPENED_MAX = 256

/**
 * Opens secrets with a cache, since opening costs more than signing. A changed secret is skipped and logged as an
 * error; the signature of the signing key is still sent.
 * @source rules#webhook-secrets.4
 */
export function openingSecrets(sealer: Sealer, logger: Logger): OpenSecrets {
  const unreadable = createLogThrottle()
  const opened = new LRUCache<string, KeyObject>({ max: OPENED_MAX })
  return (sealed) =>
    sealed.flatMap((one) => {
      const name = `${one.endpointId} ${one.id} ${one.secret.toString('base64')}`
      try {
        const key = opened.get(name) ?? createSecretKey(unseal(sealedValue(one), sealer).plain)
        opened.set(name, key)
        return [key]
      } catch (error) {
        if (!(error instanceof Unreadable)) throw error
        const line = { event: 'endpoint.secret_unreadable', webhookId: one.endpointId, reason: error.message }
        unreadable.report(one.id, (more) =>
          logger.error(line, `A secret cannot be opened; sending notifications without its signature${andMore(more)}`),
        )
        return []
      }
    })
}

/**
 * Value of `webhook-signature`: for each secret `v1,` and the Base64 of the HMAC-SHA-256 of `id.timestamp.body`,
 * separated by spaces. Pure.
 * @param timestamp seconds since the epoch, as in the header
 * @param secrets bytes or key objects; the latter take a fifth of the time
 * @source rules#webhook-secrets.1
 */
export function standardSignature(
  { id, timestamp, body }: { readonly id: string; readonly timestamp: string; readonly body: Uint8Array },
  secrets: readonly (Uint8Array | KeyObject)[],
): string {
  return secrets
    .map((secret) => createHmac('sha256', secret).update(`${id}.${timestamp}.`).update(body).digest('base64'))
    .map((signature) => `v1,${signature}`)
    .join(' ')
}

const listSecretsStatement = statement<[endpointId: string | null, now: string], WebhookSecret>(
  'webhookSecrets.list',
  `SELECT endpoint_id AS "endpointId", id, secret, created_at AS "createdAt", expires_at AS "expiresAt"
     FROM webhook_secret
    WHERE ($1::uuid IS NULL OR endpoint_id = $1) AND secret IS NOT NULL AND (expires_at IS NULL OR expires_at > $2)
    ORDER BY created_at DESC, id DESC`,
)

export function listSecrets(queries: Queries, endpointId: string, nowMs: number): Promise<WebhookSecret[]> {
  return queries.rows(listSecretsStatement, [endpointId, instantParameter(nowMs)])
}

const insertSecretStatement = statement<[string, string, Buffer, string]>(
  'webhookSecrets.insert',
  'INSERT INTO webhook_secret (endpoint_id, id, secret, created_at) VALUES ($1, $2, $3, $4)',
)

// Secrets that end now are erased in the same statement: a process with a slow clock would otherwise go on signing with
// them.
const endSecretsStatement = statement<[endpointId: string, expiresAt: string, erasedAt: string | null]>(
  'webhookSecrets.end',
  `UPDATE webhook_secret SET expires_at = least(expires_at, $2), erased_at = $3
    WHERE endpoint_id = $1 AND secret IS NOT NULL`,
)

/**
 * Ends all secrets of an endpoint at a time. If that is not in the future, they are erased.
 * @source rules#webhook-secrets.3
 */
export async function endSecrets(
  queries: Queries,
  endpointId: string,
  expiresAt: number,
  nowMs: number,
): Promise<void> {
  const erasedAt = expiresAt <= nowMs ? instantParameter(nowMs) : null
  await queries.rows(endSecretsStatement, [endpointId, instantParameter(expiresAt), erasedAt])
}

const eraseSecretsStatement = statement<[string]>(
  'webhookSecrets.erase',
  'UPDATE webhook_secret SET erased_at = $1 WHERE secret IS NOT NULL AND expires_at <= $1',
)

/** @source rules#webhook-secrets.3 */
export async function eraseSecrets(queries: Queries, nowMs: number): Promise<void> {
  await queries.rows(eraseSecretsStatement, [instantParameter(nowMs)])
}
