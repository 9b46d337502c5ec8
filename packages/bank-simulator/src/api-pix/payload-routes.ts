import { createHash, createPublicKey, sign, X509Certificate } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import type { Bank } from '../bank.ts'
import { instant } from '../events.ts'
import type { Charge } from '../operations.ts'
import { chargeOf } from './account.ts'
import type { Credential } from './authority.ts'
import { cobTermsOf, lifeSeconds } from './cob.ts'
import { Problem } from './problems.ts'
import { personOf } from './values.ts'

/** Path of the public keys that verify the signatures. */
const KEYS_PATH = '/jwks.json'

/**
 * Adds the routes of charge locations, from which the payer's bank reads signed payloads. They need no certificate and no
 * token.
 * @source BCB, API Pix (CobPayload); rules#sandbox.19
 */
export function payloadRoutes(app: FastifyInstance, bank: Bank, signature: Credential): void {
  const key = publicKey(signature)
  app.get<{ Params: { txid: string } }>('/qr/v2/:txid', async ({ params: { txid }, host }, reply) => {
    const payload = payloadOf(shownCharge(bank, txid), bank.clock.now())
    const { kid, x5t } = key
    const header = { alg: 'RS256', typ: 'JWS', kid, jku: `https://${host}${KEYS_PATH}`, x5t }
    return reply.type('application/jose').send(signed(header, payload, signature.key))
  })
  app.get(KEYS_PATH, async () => ({ keys: [key] }))
}

/** Charge of a location. @throws Problem CobPayloadNaoEncontrado (404 unknown, 410 removed) */
function shownCharge(bank: Bank, txid: string): Charge {
  const charge = chargeOf(bank, txid)
  if (!charge) throw new Problem('CobPayloadNaoEncontrado')
  const isRemoved = charge.status === 'CANCELLED' || charge.status === 'FAILED'
  if (isRemoved) throw new Problem('CobPayloadNaoEncontrado', [], 410)
  return charge
}

function payloadOf(charge: Charge, nowMs: number): object {
  const { payer } = charge.terms
  const times = { criacao: instant(charge.createdAt), apresentacao: instant(nowMs) }
  const devedor = payer && { devedor: personOf(payer) }
  return { calendario: { ...times, expiracao: lifeSeconds(charge) }, ...cobTermsOf(charge), ...devedor }
}

/** A JWS in compact serialization. */
function signed(header: object, payload: object, key: string): string {
  const text = [header, payload].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')
  return `${text}.${sign('RSA-SHA256', Buffer.from(text), key).toString('base64url')}`
}

/** The public key as a JWK, with its RFC 7638 thumbprint as `kid`. */
function publicKey({ certificate }: Credential) {
  const { raw } = new X509Certificate(certificate)
  const { e, kty, n } = createPublicKey(certificate).export({ format: 'jwk' })
  const kid = createHash('sha256').update(JSON.stringify({ e, kty, n })).digest('base64url')
  const x5t = createHash('sha1').update(raw).digest('base64url')
  return { kty, n, e, use: 'sig', alg: 'RS256', kid, x5t, x5c: [raw.toString('base64')] }
}
