import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { makeOperator } from './operators.ts'
import { stepUntil } from './stepping.ts'
import { ADMIN_TOKEN, type Answer, type World, type WorldOptions, world } from './world.ts'

/** A charge with money in suspense, and an operator who decides about it. */

const ADMIN = { authorization: `Bearer ${ADMIN_TOKEN}` }

/** The banks at which a story is told; `undefined` is the simulated bank's own protocol. */
export const BANKS = [undefined, 'api-pix', 'efi'] as const

/** One person decides everything, but for less than the charge asked for. */
export const ALONE = { PIXGATE_DESK_APPROVAL_FROM_CENTS: '100000000' }

/** How the story begins. */
export interface Given {
  /** Paid of the R$ 100.00, in this order, centavos. */
  readonly payments: readonly number[]
  readonly bank?: WorldOptions['standard']
  /** Configuration besides {@link ALONE}. */
  readonly environment?: Readonly<Record<string, string>>
}

/** A charge of R$ 100.00 of which a payment is in suspense. */
export async function suspended(t: TestContext, { payments, bank, environment }: Given) {
  const pix = await world(t, { ...ALONE, ...environment }, { isStepped: true, ...(bank && { standard: bank }) })
  const { id } = await pix.charge('100')
  for (const valueCents of payments) {
    await pix.bankAction(`charges/${id}/pay`, { valueCents })
    await pix.later(1_000)
  }
  await pix.until(`/api/pix/cash-in/${id}`, ({ receivedCents }) => receivedCents === payments.reduce((a, b) => a + b))
  const ana = { authorization: `Bearer ${await makeOperator(pix, 'operator', 'Ana')}` }
  const operator = operatorOf(pix, ana)
  const [{ id: caseId }] = await operator.casesOf(id)
  return {
    ...operator,
    pix,
    id,
    caseId,
    ana,
    charge: () => pix.get(`/api/pix/cash-in/${id}`),
    /** Decides the case of the payment. */
    decide: (decision: string, amountCents?: number) =>
      operator.decideOn(caseId, decision, amountCents === undefined ? {} : { amountCents }),
    /** The refunds, the latest first. */
    refunds: async () => (await pix.call('GET', '/api/pix/refund')).body.data,
    ends: async (status: string) => {
      const [{ id: refundId }] = (await pix.call('GET', '/api/pix/refund')).body.data
      return stepUntil(pix, `/api/pix/refund/${refundId}`, status)
    },
    sentBack: () => sentBack(pix),
    pass: async (minutes: number) => {
      for (let minute = 0; minute < minutes; minute++) await pix.later(60_000)
    },
  }
}

/** Reads and decides cases with the credential in these headers. */
export function operatorOf({ call }: Pick<World, 'call'>, headers: Record<string, string>) {
  const read = async (caseId: string) => (await call('GET', `/operator/cases/${caseId}`, undefined, headers)).body
  return {
    read,
    /** The open cases of an operation. */
    casesOf: async (operationId: string) =>
      (await call('GET', `/operator/cases?operation_id=${operationId}`, undefined, headers)).body.data,
    /** Decides a case as it stands. */
    decideOn: async (caseId: string, decision: string, more: object = {}) => {
      const { version } = await read(caseId)
      const asked = { decision, version, reason: 'as the payer wants', ...more }
      return call('POST', `/operator/cases/${caseId}/decisions`, asked, headers)
    },
  }
}

/** The amounts that the bank sent back, by its own book, centavos. */
export async function sentBack({ bank }: Pick<World, 'bank'>): Promise<number[]> {
  const { entries } = (await bank('GET', '/control/book')).body
  const sent = entries.filter(({ kind }: { readonly kind: string }) => kind === 'REFUND_SENT')
  return sent.map(({ valueCents }: { readonly valueCents: number }) => valueCents)
}

/** Suspends payouts and refunds, or lets them go on. */
export async function turn(pix: World, enabled: boolean): Promise<void> {
  const { version } = (await pix.call('GET', '/operator/cash-out-switch', undefined, ADMIN)).body
  const order = { enabled, reason: 'the bank is looked at', version }
  const { status, body } = await pix.call('PUT', '/operator/cash-out-switch', order, ADMIN)
  assert.equal(status, 200, JSON.stringify(body))
}

/** The status and the error code of an answer. */
export function codeOf({ status, body }: Answer): [number, string | undefined] {
  return [status, body.code]
}
