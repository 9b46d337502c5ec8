import { createHmac } from 'node:crypto'
import { standardSignature } from '../../packages/server/src/webhooks/secrets.ts'
import { GENERATED, type GeneratedDocument, json } from './document.ts'
import { ecdsaSignatures, otherPublicKey, publicKey } from './pinned-signatures.ts'

/** Valid and invalid signatures of notifications, to test verifiers in any language. */

const SENT_AT = 1_795_238_215
const ID = '01a1fc89-3f0a-71a6-829e-5bdab2191d18'
const ANOTHER_ID = '01a1fc89-3f0a-71a6-829e-5bdab2191d19'

/** Of known bytes. */
const [NEW, OLD, FOREIGN] = [0, 32, 64].map((first) => Buffer.from(Array.from({ length: 32 }, (_, at) => first + at)))

const BODY = '{"event_type":"pix_cash_in","event":{"payer_name":"João Ninguém","value_cents":15000}}'
const SPACED = '{\r\n  "event_type": "pix_cash_in",\t"event": { "value_cents": 1.50e4 }\n}\n'

interface Sent {
  readonly secret: Buffer | undefined
  readonly signedWith: readonly (Buffer | undefined)[]
  readonly signed: { readonly id: string; readonly timestamp: string; readonly body: Uint8Array }
  readonly id: string
  readonly timestamp: string
  readonly body: Uint8Array
  readonly now: number
  readonly signature: (right: string) => string
}

/** A vector: a valid notification with the given differences. */
function standard(name: string, isValid: boolean, why: string, { body: text = BODY, ...given }: Given = {}) {
  const body = Buffer.from(text)
  const signed = { id: ID, timestamp: String(SENT_AT), body: Buffer.from(given.signedBody ?? body) }
  const right: Sent = {
    ...{ secret: NEW, signedWith: [NEW], signed, id: ID, timestamp: signed.timestamp, body },
    ...{ now: SENT_AT + 1, signature: (text) => text },
  }
  const sent: Sent = { ...right, ...given, body, signed: { ...signed, ...given.signed } }
  const signature = sent.signature(standardSignature(sent.signed, sent.signedWith.map(present)))
  return {
    ...{ name, isValid, why, secret: `whsec_${present(sent.secret).toString('base64')}` },
    headers: { 'webhook-id': sent.id, 'webhook-timestamp': sent.timestamp, 'webhook-signature': signature },
    ...{ bodyBase64: Buffer.from(sent.body).toString('base64'), now: sent.now },
  }
}

interface Given extends Partial<Omit<Sent, 'body' | 'signed'>> {
  readonly body?: string | Uint8Array
  readonly signedBody?: string
  readonly signed?: Partial<Sent['signed']>
}

function present(secret: Buffer | undefined): Buffer {
  if (secret === undefined) throw new Error('there are three secrets')
  return secret
}

const RIGHT = [
  standard(
    'as it is sent',
    true,
    'The HMAC under the bytes of the secret, of id, time and body with a full stop between.',
  ),
  standard(
    'the newer secret of two',
    true,
    'While a secret is exchanged there is a signature of each: one that verifies is enough.',
    {
      signedWith: [NEW, OLD],
    },
  ),
  standard('the older secret of two', true, 'The receiver has not taken up the new secret yet.', {
    signedWith: [NEW, OLD],
    secret: OLD,
  }),
  standard('bytes like any others', true, 'The body is signed as it is sent: spaces, tabs and line breaks too.', {
    body: SPACED,
  }),
  standard('full stops in the body', true, 'They part nothing there.', { body: '{"value":1.50,"note":"1.2."}' }),
  standard('five minutes old', true, 'As old as may be.', { now: SENT_AT + 300 }),
  standard('five minutes ahead', true, 'The clock of the receiver is slow, by as much as may be.', {
    now: SENT_AT - 300,
  }),
]

const WRONG = [
  standard('too old', false, 'It may be a repetition of what somebody recorded.', { now: SENT_AT + 301 }),
  standard('too far ahead', false, 'Its time is not that of sending.', { now: SENT_AT - 301 }),
  standard('a time in milliseconds', false, 'The header has seconds; 55,000 years ahead is too far.', {
    timestamp: `${SENT_AT}000`,
    signed: { timestamp: `${SENT_AT}000` },
  }),
  standard('another body', false, 'One digit differs.', { body: BODY.replace('15000', '15001'), signedBody: BODY }),
  standard('written anew', false, 'The same JSON in other bytes: the body was read and written again.', {
    body: JSON.stringify(JSON.parse(SPACED)),
    signedBody: SPACED,
  }),
  standard('another Unicode form', false, 'The same letters in other bytes.', {
    body: BODY.normalize('NFD'),
    signedBody: BODY,
  }),
  standard('another encoding', false, 'The body was read as UTF-8 and hashed as Latin-1.', {
    body: Buffer.from(BODY, 'latin1'),
    signedBody: BODY,
  }),
  standard('another id', false, 'The id is signed: a repetition cannot pass for something new.', { id: ANOTHER_ID }),
  standard('another time', false, 'The time is signed: what was recorded cannot be dated anew.', {
    timestamp: String(SENT_AT + 1),
  }),
  standard('the body alone is signed', false, 'Without id and time.', { signature: () => hmacOf(present(NEW), BODY) }),
  standard('another secret', false, 'That of another receiver.', { signedWith: [FOREIGN] }),
  standard('the text of the secret', false, 'The key is what follows whsec_, out of Base64; not the text.', {
    signedWith: [Buffer.from(`whsec_${present(NEW).toString('base64')}`)],
  }),
  standard('in hexadecimal', false, 'The signature is Base64.', {
    signature: (text) => `v1,${Buffer.from(text.slice(3), 'base64').toString('hex')}`,
  }),
  standard('cut short', false, 'Half of a signature proves nothing.', { signature: (text) => text.slice(0, 24) }),
  standard('another version', false, 'v1a is the asymmetric one; this is none.', {
    signature: (text) => text.replace('v1,', 'v1a,'),
  }),
  standard('without a version', false, 'What stands before the comma says what it is.', {
    signature: (text) => text.slice(3),
  }),
  standard('no signature', false, 'An empty header.', { signature: () => '' }),
]

function hmacOf(secret: Buffer, body: string): string {
  return `v1,${createHmac('sha256', secret).update(body).digest('base64')}`
}

/** The document. HMACs are deterministic; ECDSA signatures are not, and are pinned. */
export function signatureVectors(): GeneratedDocument {
  const ecdsa = ecdsaSignatures.map(({ name, isValid, why, body = BODY, isOther = false, signature }) => ({
    ...{ name, isValid, why, publicKey: isOther ? otherPublicKey : publicKey, signature },
    bodyBase64: Buffer.from(body).toString('base64'),
  }))
  return json('docs/generated/webhook-signatures.json', {
    $comment: `${GENERATED} Secrets and keys are of no use but here. Verify standardWebhooks at the time «now».`,
    toleranceSeconds: 300,
    standardWebhooks: [...RIGHT, ...WRONG],
    ecdsa,
  })
}
