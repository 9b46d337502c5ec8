import type { Target } from './campaign.ts'
import { openConnection } from './connection.ts'
import type { Corpus } from './corpus.ts'
import type { Operation } from './document.ts'

/** A service in which there is something to be found. */
export interface Prepared {
  /** One that works; all may have been deactivated since the last. */
  readonly apiKey: () => string
  /** Of an admin. */
  readonly operatorToken: string
  readonly approverToken: string
  /** What clients created last, as it is listed now. Nothing but a client's request changes it. */
  readonly readLists: () => Promise<string>
  /** Puts back what {@link DISTURBING} changes; from then on the bank completes payouts and refunds, or lets them wait. */
  readonly calm: (moneyOut: 'auto' | 'manual') => Promise<void>
}

/** One that waits for an approval. */
function largePayout(externalId: string) {
  const recipient = { pixKey: 'padaria@example.com', pixKeyType: 'email' }
  return { transaction: { value: APPROVED_REAIS, externalId }, recipient }
}

/** From this on payouts are approved; no request of the document's examples sends as much. */
export const APPROVED_REAIS = 90_000_000

const OPERATORS = '/operator/operators'
const BEHAVIOR = '/sandbox/behavior'
const CASH_OUT_SWITCH = '/operator/cash-out-switch'

const EMERGENCY = '/api-key/deactivate-all'

/** Paths of what changes how other requests are answered, in this order: after the last one the key opens nothing. */
export const DISTURBING: readonly string[] = [BEHAVIOR, CASH_OUT_SWITCH, EMERGENCY]

type Call = (method: string, path: string, value?: unknown) => Promise<Answered>

/** Payouts that are sent, others that wait for an approval, and refunds. */
async function sendMoney(call: Call, paid: NonNullable<Answered['data']>, prefix: string): Promise<void> {
  for (const [number, { id }] of paid.entries()) {
    const transaction = { value: 1, externalId: `${prefix}-${number}` }
    const recipient = { pixKey: 'padaria@example.com', pixKeyType: 'email' }
    await call('POST', '/api/pix/cash-out', { transaction, recipient })
    await call('POST', `/api/pix/refund-in/${id}`, { refundValue: 1 })
    for (let time = 0; time < 5; time++)
      await call('POST', '/api/pix/cash-out', largePayout(`${prefix}-${number}-${time}`))
  }
}

/** Makes a key and a few of everything, and tells the corpus of it. Keys that were there before are spared. */
export async function prepare(target: Target, operations: readonly Operation[], corpus: Corpus): Promise<Prepared> {
  let apiKey = ''
  let operatorToken = target.adminToken
  const connection = openConnection(target.port)
  async function call(method: string, path: string, value?: unknown): Promise<Answered> {
    const token = /^\/(?:api-key|operator|console)/.test(path) ? operatorToken : apiKey
    const body = value === undefined ? '' : JSON.stringify(value)
    const head = [`${method} ${path} HTTP/1.1`, 'Host: gateway.example', `Authorization: Bearer ${token}`]
    const framing = ['Content-Type: application/json', `Content-Length: ${Buffer.byteLength(body)}`]
    const request = [...head, ...(body === '' ? [] : framing), '', body].join('\r\n')
    const answer = await connection.exchange(Buffer.from(request), method)
    const text = answer.body.toString()
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${text}`)
    const answered = JSON.parse(text) as Answered
    corpus.learn(path.split('?')[0] ?? '', answered)
    return answered
  }

  apiKey = String((await call('POST', '/api-key/generate')).apiKey)
  await call('GET', '/api-key?limit=100')
  corpus.spare('id of api-key')
  // Some request makes an admin: from then on the administrative token opens little.
  operatorToken = String((await call('POST', OPERATORS, { name: 'Fuzzer', role: 'admin' })).token)
  const approverToken = String((await call('POST', OPERATORS, { name: 'Approver', role: 'approver' })).token)
  await call('GET', `${OPERATORS}?limit=100`)
  corpus.spare('id of operators')
  const prefix = `prepared-${apiKey.slice(-12)}`
  for (const number of [1, 2, 3, 4, 5]) {
    await call('POST', '/api-key/generate')
    await call('POST', '/webhook', { url: `${target.receiverUrl}/prepared/${number}`, events: ['pix_cash_in'] })
    const transaction = { value: 9_999_999_999.99, externalId: `${prefix}-${number}` }
    const { id } = await call('POST', '/api/pix/cash-in', { transaction })
    if (number > 1) await call('POST', `/sandbox/cash-in/${id}/pay`)
  }
  // Payments come by the bank's events.
  let paid: Answered['data'] = []
  while (paid.length < 4) ({ data: paid = [] } = await call('GET', '/api/pix/cash-in?status=PAID'))
  await sendMoney(call, paid, prefix)
  await call('GET', '/operator/approvals?limit=100')

  for (const path of ['/api-key', '/api/pix/ledger']) await call('GET', `${path}?limit=1`)
  const behavior = await call('GET', BEHAVIOR)
  return {
    apiKey: () => apiKey,
    operatorToken,
    approverToken,
    readLists: async () => {
      const read: string[] = []
      for (const list of listsOf(operations)) {
        read.push(`${list} ${newestIn(await call('GET', list))}`)
      }
      return read.join('\n')
    },
    calm: async (moneyOut) => {
      apiKey = String((await call('POST', '/api-key/generate')).apiKey)
      await call('PUT', BEHAVIOR, { ...behavior, cashOut: moneyOut, refundIn: moneyOut })
      await call('PUT', CASH_OUT_SWITCH, { enabled: true, reason: 'the next requests' })
    },
  }
}

/** Of what can be created, the lists. */
function listsOf(operations: readonly Operation[]): readonly string[] {
  const creations = operations.filter(({ answers }) => answers.has(201))
  return operations
    .filter(
      ({ method, path }) =>
        method === 'GET' && !path.includes('{') && creations.some((creation) => creation.path.startsWith(path)),
    )
    .map(({ path, query }) => ('limit' in query ? `${path}?limit=100` : path))
}

const NEWEST = 20

function newestIn({ data = [] }: Answered): readonly (string | undefined)[] {
  // What the bank took back by itself is listed too.
  const ids = data.filter(({ origin }) => origin !== 'PARTNER').map(({ id, webhook_id }) => id ?? webhook_id)
  return ids.slice(0, NEWEST)
}

interface Answered {
  readonly apiKey?: string
  readonly token?: string
  readonly id?: string
  readonly data?: readonly Listed[]
}

interface Listed {
  readonly id?: string
  readonly webhook_id?: string
  readonly origin?: string
}
