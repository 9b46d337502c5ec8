import { createHmac } from 'node:crypto'
import { wallNow } from '../support/wall-clock.ts'
import type { Credential, Operation } from './document.ts'
import type { Header } from './draft.ts'

/** What opens the service. */
export interface Secrets {
  readonly apiKey: string
  readonly adminToken: string
  /** Of whoever approves payouts, as an admin does not. */
  readonly approverToken: string
  readonly partnerSecret: string
}

/** Makes the headers that prove who sends these bytes. */
export type Proof = (body: Buffer) => readonly Header[]

/** What an approver does, and nobody else. */
const APPROVALS: ReadonlySet<string> = new Set([
  '/operator/approvals/{id}',
  '/operator/cases/{id}/proposals/{proposalId}',
])

/** The proof that an operation wants. */
export function proofOf(
  { credential, path }: Pick<Operation, 'credential' | 'path'>,
  { apiKey, adminToken, approverToken, partnerSecret }: Secrets,
): Proof {
  switch (credential) {
    case 'apiKey':
      return () => [['Authorization', `Bearer ${apiKey}`]]
    case 'adminToken':
      return () => [['Authorization', `Bearer ${APPROVALS.has(path) ? approverToken : adminToken}`]]
    case 'partnerSignature':
      return (body) => signed(signatureOf(body, partnerSecret), seconds())
    default:
      return () => []
  }
}

/** The bank's proof with its time and its digits in every spelling that is allowed. */
export function respelledProofs({ partnerSecret }: Secrets): readonly Proof[] {
  const times = [() => String(wallNow()), () => new Date(wallNow()).toISOString(), seconds]
  return times.map((time) => (body) => {
    const [algorithm, digits = ''] = signatureOf(body, partnerSecret).split('=')
    return signed(`${algorithm}=${digits.toUpperCase()}`, time())
  })
}

/** What does not open an operation that wants a token. */
export function wrongTokens(credential: Credential, { apiKey, adminToken, partnerSecret }: Secrets): readonly Proof[] {
  const [right, other] = credential === 'adminToken' ? [adminToken, apiKey] : [apiKey, adminToken]
  const flipped = right.slice(0, -1) + (right.endsWith('0') ? '1' : '0')
  const wrong: readonly (readonly string[])[] = [
    [],
    [`Bearer ${other}`],
    [`Bearer ${partnerSecret}`],
    [`Bearer ${flipped}`],
    [`Bearer ${right.slice(0, -1)}`],
    [`Bearer ${right}0`],
    [`Bearer ${apiKey.replace('_test_', '_live_')}`],
    [`Bearer pix_test_${'0'.repeat(49)}`],
    [`Bearer ${right}`, `Bearer ${right}`],
    [`Bearer ${right}, Bearer ${right}`],
    [`Bearer  ${right}`],
    [`Bearer\t${right}`],
    [`Bearer "${right}"`],
    [`Bearer ${right} x`],
    [`Bearer ${'\u00ff'.repeat(49)}`],
    [`Bearer ${'x'.repeat(4_000)}`],
    [`Basic ${Buffer.from(right).toString('base64')}`],
    ['Bearer'],
    [right],
    [''],
  ]
  return wrong.map((values) => () => values.map((value) => ['Authorization', value]))
}

const WRONG_TIMES = '0 -1 now 1e9 9999999999 99999999999999999999 2020-01-01T00:00:00Z 9999-12-31T23:59:59Z ٣'.split(
  ' ',
)

/** What does not prove that the bank is speaking. */
export function forgeries({ apiKey, partnerSecret }: Secrets): readonly Proof[] {
  const right = (body: Buffer) => signatureOf(body, partnerSecret)
  return [
    () => [],
    () => [['X-Partner-Timestamp', seconds()]],
    () => signed('', seconds()),
    () => signed(`sha256=${'0'.repeat(64)}`, seconds()),
    () => [['X-Partner-Api-Key', partnerSecret]],
    () => [['Authorization', `Bearer ${apiKey}`]],
    (body) => signed(signatureOf(body, `${partnerSecret}x`), seconds()),
    (body) => signed(right(Buffer.concat([body, Buffer.from(' ')])), seconds()),
    (body) => signed(right(body).slice(0, -1), seconds()),
    (body) => signed(`${right(body)}0`, seconds()),
    (body) => signed(right(body).replace('sha256=', ''), seconds()),
    (body) => signed(right(body).replace('sha256', 'sha1'), seconds()),
    (body) => [...signed(right(body), seconds()), ['X-Partner-Signature', right(body)]],
    (body) => [...signed(right(body), seconds()), ['X-Partner-Timestamp', seconds()]],
    (body) => [['X-Partner-Signature', right(body)]],
    (body) => signed(right(body), ''),
    ...WRONG_TIMES.map((time) => (body: Buffer) => signed(right(body), time)),
  ]
}

function signed(signature: string, time: string): readonly Header[] {
  return [
    ['X-Partner-Signature', signature],
    ['X-Partner-Timestamp', time],
  ]
}

function signatureOf(body: Buffer, secret: string): string {
  return `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`
}

function seconds(): string {
  return String(Math.floor(wallNow() / 1_000))
}
