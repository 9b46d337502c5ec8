import pLimit from 'p-limit'
import type { CashInModule, CreditAnswer } from '../../cash-in/index.ts'
import type { Clock } from '../../platform/clock.ts'
import { MISSING } from '../entries/store.ts'
import { CREDIT_DENIED, type TripWireStore } from '../trip-wire/store.ts'
import type { Difference, TripWire } from '../trip-wire/wire.ts'
import type { AskedCredit, CreditQuestionStore } from './store.ts'

/** Asking the bank about what was credited on the word of an event, long before its statement can be believed. */
export interface CreditQuestions {
  /**
   * Asks about some of those that are due.
   * @returns `false`: one look a second is the bound of what the bank is asked
   * @source rules#trip-wire.9, rules#trip-wire.10
   */
  processNext(): Promise<boolean>
}

/** What it needs. */
export interface CreditQuestionsOptions {
  readonly store: CreditQuestionStore
  readonly wireStore: Pick<TripWireStore, 'knownCases'>
  readonly tripWire: TripWire
  readonly cashIns: Pick<CashInModule, 'askAboutCredit'>
  readonly clock: Clock
}

/** So long after it was admitted: an honest one is at the bank by then, and many are in the statement. */
const FIRST_AFTER_MS = 10_000

/** So long after the first denial, as what the bank answers may be behind its own events. */
const AGAIN_AFTER_MS = 30_000

/** So long after a question that was not answered. No process asks about the same one meanwhile. */
const RETRY_AFTER_MS = 20_000

/** What the bank has not answered by then is left to its statement. */
const ASKED_WITHIN_MS = 3_600_000

/** Of those that were denied, of the largest and of the oldest, in one look. */
const EACH_MAX = 20

/** Questions at the same time; and so many without an answer end a look. */
const CONCURRENT = 16

interface Answered {
  readonly credit: AskedCredit
  readonly answer: CreditAnswer
}

/** Makes it. */
export function createCreditQuestions(options: CreditQuestionsOptions): CreditQuestions {
  const { store, wireStore, tripWire, cashIns, clock } = options
  const limit = pLimit(CONCURRENT)

  /** @returns the answers; what was not asked about has none */
  async function ask(credits: readonly AskedCredit[]): Promise<Answered[]> {
    let unanswered = 0
    const one = async (credit: AskedCredit): Promise<Answered[]> => {
      if (unanswered >= CONCURRENT) return []
      const answer = await cashIns.askAboutCredit(credit)
      if (answer.is === 'SILENT') unanswered += 1
      return [{ credit, answer }]
    }
    return (await Promise.all([...credits].sort(byUrgency).map((credit) => limit(() => one(credit))))).flat()
  }

  /** What the statement was found not to have is the same difference. */
  async function report(answered: readonly Answered[]): Promise<void> {
    const differences = answered.flatMap(differenceOf)
    const known = await wireStore.knownCases(differences.map(({ reference }) => ({ kind: MISSING, reference })))
    await tripWire.report(differences.filter(({ reference }) => !known.has(`${MISSING} ${reference}`)))
  }

  return {
    processNext: async () => {
      const nowMs = clock.now()
      const credits = await store.claim({
        nowMs,
        askedBy: nowMs - RETRY_AFTER_MS,
        admittedBy: nowMs - FIRST_AFTER_MS,
        deniedBy: nowMs - AGAIN_AFTER_MS,
        limit: EACH_MAX,
      })
      if (credits.length === 0) return false
      const answered = await ask(credits)
      const asked = new Set(answered.map(({ credit }) => credit))
      await store.putBack(
        credits.filter((credit) => !asked.has(credit)),
        nowMs,
      )
      // Afterwards noted: whoever dies in between asks again, and finds the case.
      await report(answered)
      const having = (is: (one: Answered) => boolean) => answered.filter(is).map(({ credit }) => credit)
      await store.noteDenied(
        having(({ answer }) => answer.is === 'DENIED'),
        clock.now(),
      )
      await store.end(
        having((one) => hasEnded(one, nowMs)),
        clock.now(),
      )
      return false
    },
  }
}

/** Those that were denied first, then the largest. */
function byUrgency(one: AskedCredit, other: AskedCredit): number {
  const [isDenied, isOtherDenied] = [one.deniedAt !== null, other.deniedAt !== null]
  if (isDenied !== isOtherDenied) return isDenied ? -1 : 1
  return one.valueCents > other.valueCents ? -1 : Number(one.valueCents < other.valueCents)
}

function hasEnded({ credit, answer }: Answered, nowMs: number): boolean {
  if (answer.is === 'OPEN' || answer.is === 'SILENT') return nowMs - credit.admittedAt >= ASKED_WITHIN_MS
  return answer.is === 'SETTLED' || credit.deniedAt !== null
}

function differenceOf({ credit, answer }: Answered): Difference[] {
  if (answer.is !== 'DENIED' || credit.deniedAt === null) return []
  const { operationId, endToEndId, valueCents, deniedAt } = credit
  const facts = {
    reason: 'the bank was asked twice, and does not have it',
    direction: 'in',
    movementId: endToEndId,
    operationId,
    valueCents: Number(valueCents),
    deniedAt,
    bankAnswer: answer.bankAnswer,
  }
  return [{ kind: CREDIT_DENIED, reference: `in ${endToEndId}`, facts, isDanger: true }]
}
