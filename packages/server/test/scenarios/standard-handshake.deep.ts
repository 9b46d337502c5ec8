import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import {
  alerting,
  bankGate,
  ended,
  hangingUp,
  hangingUpAfterwards,
  type Refuser,
  stranger,
} from '../support/bank-gate.ts'
import { balances } from '../support/books.ts'
import { capturedLog } from '../support/captured-log.ts'
import { cases, notifiedStatuses } from '../support/evidence.ts'
import { PIX_KEY } from '../support/standard-bank.ts'
import { minutes, stepUntil } from '../support/stepping.ts'
import { ADMIN_TOKEN, world } from '../support/world.ts'

/** A bank of the standard with which we do not come to terms on TLS: nothing leaves, and nothing is given back in doubt. */

const AT_EFI = { isStepped: true, standard: 'efi' } as const
const BRIEF = { PIXGATE_BANK_CREATE_BUDGET_MS: '500' } as const
const HELD = { available: 7_000n, reserved: 3_000n, settlement: -10_000n }

/** A merchant with R$ 100.00 at Efí, whose gate was shut before the service had asked for a token, or right after. */
async function behindGate(t: TestContext, refuser: Refuser, hasToken: boolean) {
  const gate = await bankGate(t, refuser)
  const log = capturedLog('error')
  const pix = await world(t, BRIEF, { ...AT_EFI, reachBank: gate.reachBank, logger: log.logger })
  await pix.bankAction('payments', { pixKey: PIX_KEY, valueCents: 10_000 })
  const deposit = { valueCents: 10_000, reason: 'what was paid to the key' }
  const asAdmin = { authorization: `Bearer ${ADMIN_TOKEN}` }
  assert.equal((await pix.call('POST', '/operator/adjustments', deposit, asAdmin)).status, 201)
  if (hasToken) await pix.work()
  await gate.shut()
  return {
    ...pix,
    gate,
    errors: () => log.lines.map(({ msg }) => msg),
    standing: async () => (await pix.call('GET', '/readyz')).body.dependencies.bank,
    payouts: async () =>
      (await pix.bank('GET', '/control/book')).body.entries.filter(
        ({ kind }: { kind: string }) => kind === 'PAYOUT_SENT',
      ).length,
  }
}

const OURS = 'the bank refuses the certificate that we show it: check PIXGATE_BANK_CERTIFICATE'

const CUT = 'the bank cuts the connection: check PIXGATE_BANK_API_URL'
const EITHER_WAY = [false, true]

/** The refusing side, the setting that an operator is told to check, and whether an earlier token exists. */
const refusals: readonly (readonly [name: string, refuser: Refuser, says: string, tokens?: readonly boolean[]])[] = [
  ['it hangs up before TLS', hangingUp, CUT, EITHER_WAY],
  ['it hangs up once it has seen our certificate', hangingUpAfterwards, CUT, EITHER_WAY],
  ['the authority of our certificate is unknown to it', alerting(48), OURS, EITHER_WAY],
  ['our certificate has expired, it says', alerting(45), OURS],
  [
    'its own certificate has expired',
    ended,
    'the bank has a certificate that has expired: the bank has to renew it, or check PIXGATE_BANK_API_URL',
  ],
  [
    'its own certificate is of an authority that nobody here trusts',
    stranger,
    'the bank has a certificate of an authority that is not trusted here: check PIXGATE_BANK_CA',
  ],
]

for (const [name, refuser, says, tokens = [false]] of refusals)
  for (const hasToken of tokens)
    test(`[AP-8] at efi, ${hasToken ? 'with' : 'without'} a token of before: ${name}; a charge and a payout wait, and are made once when it is over`, async (t) => {
      const pix = await behindGate(t, refuser, hasToken)
      const charge = await pix.charge('5')
      assert.deepEqual([charge.status, charge.pixCode], ['PENDING', undefined])
      const payout = await pix.cashOut()
      for (let steps = 0; steps < 5; steps++) {
        await pix.later(5_001)
        assert.deepEqual(await balances(pix.database), HELD, 'held, whatever the refusal means')
      }
      assert.deepEqual(await pix.standing(), { status: 'degraded', reason: says })
      if (says !== CUT) assert.ok(pix.errors().includes(says), pix.errors().join())
      assert.deepEqual([await pix.payouts(), await cases(pix.database)], [0, []])

      pix.gate.open()
      await stepUntil(pix, `/api/pix/cash-out/${payout.id}`, 'CONFIRMED', 30_001)
      await pix.until(`/api/pix/cash-in/${charge.id}`, ({ pixCode }) => pixCode !== null)
      assert.equal(await pix.payouts(), 1)
      assert.deepEqual(await pix.standing(), { status: 'ok' })
      assert.deepEqual([await cases(pix.database), await notifiedStatuses(pix.database)], [[], ['CONFIRMED']])
      await pix.assertBooksAgree()
    })

test('[AP-8] [cash-out.states.8] at efi, without a token no byte of a payout is sent: after 30 minutes its money is released', async (t) => {
  const pix = await behindGate(t, hangingUpAfterwards, false)
  const { id } = await pix.cashOut()
  const path = `/api/pix/cash-out/${id}`
  await minutes(pix, 29)
  assert.deepEqual([(await pix.get(path)).status, await balances(pix.database)], ['DISPATCHED', HELD])
  await minutes(pix, 3)
  assert.equal((await pix.get(path)).status, 'RELEASED')
  pix.gate.open()
  await pix.later(60_000)
  assert.deepEqual([await pix.payouts(), await cases(pix.database)], [0, []])
  await pix.assertBooksAgree()
})

test('[AP-8] [P6] at efi, money that may have been sent before the bank refused our certificate is not released before the bank says so', async (t) => {
  const pix = await behindGate(t, hangingUpAfterwards, true)
  const { id } = await pix.cashOut()
  const path = `/api/pix/cash-out/${id}`
  await minutes(pix, 45)
  assert.equal((await pix.get(path)).status, 'RECONCILIATION_REQUIRED')
  assert.deepEqual([await balances(pix.database), await cases(pix.database)], [HELD, ['outcome_unknown']])
  assert.deepEqual(await notifiedStatuses(pix.database), [])
  pix.gate.open()
  await stepUntil(pix, path, 'CONFIRMED', 60_000)
  assert.deepEqual([await pix.payouts(), await cases(pix.database)], [1, ['outcome_unknown (closed)']])
  await pix.assertBooksAgree()
})
