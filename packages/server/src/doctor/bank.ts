import type { Bank, ConfiguredBank, ExaminationOptions } from '../banks/bank.ts'
import { type BankCertificate, daysLeftOf, renewalOf, urgencyOf } from '../banks/certificates.ts'
import { standingOf } from '../banks/standing.ts'
import type { Clock } from '../platform/clock.ts'
import { bad, type Finding, good } from '../platform/finding.ts'
import { createIds, ownOrderId } from '../platform/ids.ts'
import { dayOf } from '../platform/secrets.ts'

/** A bank's `Date` is in whole seconds, and takes a while to arrive. */
const BANK_SKEW_MAX_MS = 5_000

const MINUTE_MS = 60_000

/**
 * Asks the bank one question that changes nothing there, with our credentials; or goes the whole way to it step by step.
 * @param clock of ours
 * @param options what is done at the bank besides, where it can be; nothing by default
 * @source rules#doctor.3, rules#doctor.4, rules#doctor.7
 */
export async function examineBank(
  configured: ConfiguredBank,
  clock: Clock,
  options: ExaminationOptions = { registers: false },
): Promise<readonly Finding[]> {
  const bank = configured.open(clock)
  try {
    if (bank.examine) return withClock(bank, clock, await bank.examine(options))
    const answer = await ask(bank, clock)
    if (answer === undefined) return [good('bank', 'is not asked: it answers no question that changes nothing')]
    const { problem } = standingOf(answer, configured.settings, configured.host)
    const answered = problem === undefined ? good('bank', 'answers, and takes our credentials') : bad('bank', problem)
    return withClock(bank, clock, [answered])
  } finally {
    await bank.close()
  }
}

/** What the answers told besides. */
function withClock(bank: Bank, clock: Clock, findings: readonly Finding[]): readonly Finding[] {
  const now = clock.now()
  const ofCertificates = bank.certificates?.().map((certificate) => examineCertificate(certificate, now)) ?? []
  return [...findings, ...ofCertificates, ...examineClock(bank.latestDate?.(), now)]
}

const OWNERS = { bank: "the bank's", client: 'ours', authority: "the last authority's" } as const

/** @source rules#doctor.7 */
function examineCertificate(certificate: BankCertificate, now: number): Finding {
  const { of, endsAt } = certificate
  const until = `${OWNERS[of]} is good until ${dayOf(endsAt)}`
  const urgency = urgencyOf(certificate, now)
  if (urgency === 'none') return good('certificate', until)
  const says = `${until}, for ${daysLeftOf(certificate, now)} days: ${renewalOf(certificate, now)}`
  return urgency === 'notice' ? good('certificate', says) : bad('certificate', says)
}

/** The statement of the last minute, or a charge that does not exist. */
async function ask(bank: Bank, clock: Clock): Promise<{ readonly kind: string } | undefined> {
  const now = clock.now()
  if (bank.capabilities.has('statement')) return bank.readStatement({ from: now - MINUTE_MS, to: now, cursor: null })
  if (!bank.capabilities.has('query-charge')) return undefined
  return bank.getCharge(ownOrderId(createIds(clock).uuid()), { valueCents: 1n, expiresAt: now })
}

function examineClock(bankAt: number | undefined, now: number): Finding[] {
  if (bankAt === undefined) return []
  const seconds = Math.round((bankAt - now) / 1_000)
  if (Math.abs(bankAt - now) <= BANK_SKEW_MAX_MS) return [good('clock', "the bank's agrees with ours")]
  const where = seconds > 0 ? 'ahead of' : 'behind'
  return [bad('clock', `the bank's is ${Math.abs(seconds)} s ${where} ours: let ours be set by NTP, or ask the bank`)]
}
