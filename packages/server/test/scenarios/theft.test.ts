import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import test from 'node:test'
import { fileURLToPath } from 'node:url'
import { realPause } from '../../src/platform/jobs/pause.ts'
import { audit, caseFacts, cases, creditsDenied, statementMark } from '../support/evidence.ts'
import { paidEvent, postEvent } from '../support/partner-events.ts'
import { ask, type ProcessWorld, processWorld } from '../support/process-world.ts'
import { PROGRAM_ENVIRONMENT } from '../support/program-environment.ts'
import { ADMIN_TOKEN } from '../support/world.ts'

/** Somebody has the secret of the bank's events and an API key: what a penetration test made nine million reais of. */

const SECOND = 1_000
const BOUND_CENTS = 1_000_000
const CAP_CENTS = 200_000

const VERIFY = fileURLToPath(new URL('../../../../scripts/verify-ledger.ts', import.meta.url))

/** A payment that never was, signed as the bank signs. @returns the charge */
async function forge(pix: ProcessWorld, externalId: string, valueCents: number): Promise<string> {
  const { id } = await pix.charge({ externalId, valueCents })
  const { providerTransactionId } = await pix.read(id)
  const occurredAt = new Date(pix.now()).toISOString()
  const clock = { now: pix.now }
  const event = paidEvent({ id, valueCents, providerTransactionId }, { occurredAt, eventId: externalId })
  assert.equal(await postEvent({ url: pix.url, clock }, event), 200)
  return id
}

/** How often the bank denied that it has what was credited on the word of events. */
const denials = async ({ database }: ProcessWorld) => (await creditsDenied(database)).length

async function isSwitchedOn({ url }: ProcessWorld): Promise<boolean> {
  return (await ask(`${url}/operator/cash-out-switch`, ADMIN_TOKEN, 'GET'))?.body.enabled
}

function payOut({ url, apiKey }: ProcessWorld, externalId: string) {
  const body = {
    transaction: { value: 1_000, externalId },
    recipient: { pixKey: 'ladrao@example.com', pixKeyType: 'email' },
  }
  return ask(`${url}/api/pix/cash-out`, apiKey, 'POST', body)
}

function verifyLedger(databaseUrl: string): Promise<{ readonly status: number; readonly report: string }> {
  const env = { ...PROGRAM_ENVIRONMENT, DATABASE_URL: databaseUrl }
  return new Promise((resolve) => {
    execFile(process.execPath, [VERIFY], { env }, (error, stdout, stderr) =>
      resolve({ status: error ? Number(error.code) : 0, report: stdout + stderr }),
    )
  })
}

test('[trip-wire.9] [PL-50] [cash-in.credits.1] [cash-in.credits.3] [ledger.verify.6] the theft with the secret of the events ends with what the caps and the bound let through', async (t) => {
  const pix = await processWorld(t, { PIXGATE_DAY_MAX_CENTS: String(CAP_CENTS) })
  const honest = await pix.charge({ externalId: 'honest', valueCents: 5_000 })
  await pix.end(honest.id, 'pay')
  while ((await pix.read(honest.id)).status !== 'PAID') await realPause.for(20)
  while ((await statementMark(pix.database)).readAt === null) await realPause.for(20)

  // Nine million at once: the bank is asked, and denies it.
  const large = await forge(pix, 'nine-million', 900_000_000)
  // Many below the threshold: in all no more than the bound, whatever comes at once.
  const small = await Promise.all(Array.from({ length: 15 }, (_, index) => forge(pix, `small-${index}`, 99_900)))
  const booked = async () => {
    const all = await Promise.all(small.map((id) => pix.read(id)))
    return all.filter(({ status }) => status === 'PAID').length * 99_900
  }
  // The honest payment counts too, until the statement has it.
  while ((await booked()) < 9 * 99_900) await realPause.for(50)
  assert.equal((await pix.read(large)).status, 'PENDING')

  // What he takes before anything is found is what the caps let him.
  const taken = await Promise.all(Array.from({ length: 4 }, (_, index) => payOut(pix, `before-${index}`)))
  assert.deepEqual(taken.map((answer) => answer?.status).sort(), [201, 201, 422, 422])

  // Within a minute: the bank is asked about what was booked, and half a minute later once more.
  await pix.advance(10 * SECOND)
  while ((await denials(pix)) < 9) await realPause.for(20)
  await pix.advance(30 * SECOND)
  while (await isSwitchedOn(pix)) await realPause.for(20)
  assert.equal(await booked(), 9 * 99_900)
  assert.ok(9 * 99_900 + 5_000 <= BOUND_CENTS)
  assert.equal((await pix.read(large)).status, 'PENDING')
  const refused = await payOut(pix, 'after')
  assert.deepEqual([refused?.status, refused?.body.code], [503, 'cash_out_suspended'])

  // It says so, once, with what an operator needs; what is true is in none of it.
  const trips = (await audit(pix.database)).filter(({ actor }) => actor === 'trip-wire')
  assert.equal(trips.length, 1)
  const denied = await caseFacts(pix.database, 'credit_denied')
  assert.equal(denied.length, 9)
  const told = denied.map((facts) => (facts as { readonly operationId: string }).operationId)
  assert.deepEqual(told.toSorted(), small.filter((id) => told.includes(id)).toSorted())
  assert.ok((await cases(pix.database)).every((kind) => /^(credit_denied|payment_unconfirmed)$/.test(kind)))
  const { status, report } = await verifyLedger(pix.databaseUrl)
  assert.match(report, /no drift/)
  assert.match(report, /✘ bank: 9\. The bank's statement of .* does not confirm R\$ 8\.991,00 of the books\./)
  assert.equal(status, 3)
})
