import { type BankBehaviorChange, limits } from '@pixgate/spec'
import { API_PIX_STATEMENT_DELAYS_MS } from '../../src/banks/api-pix/statement.ts'
import { type Chance, chanceOf } from '../fuzz/chance.ts'

/** What goes wrong when: drawn from a seed, before anything starts. */

/** The processes that can be killed and stopped. */
export const processNames = ['api-1', 'api-2', 'worker-1', 'worker-2', 'bank'] as const

/** One of {@link processNames}. */
export type ProcessName = (typeof processNames)[number]

/** A fault. `backend` chooses one of the server's sessions there are then, as a part of them all. */
export type Fault =
  | { readonly kind: 'kill'; readonly process: ProcessName }
  | { readonly kind: 'stop'; readonly process: ProcessName; readonly forMs: number }
  | { readonly kind: 'stop backend'; readonly backend: number; readonly forMs: number }
  | { readonly kind: 'terminate backend'; readonly backend: number }
  | { readonly kind: 'restart database'; readonly mode: 'fast' | 'immediate' }
  | { readonly kind: 'time passes'; readonly ms: number }
  | { readonly kind: 'bank behaves'; readonly change: BankBehaviorChange }

/** The kinds of faults that a long plan beside a bank of this kind has. */
export function faultKinds(bankKind: BankKind): readonly Fault['kind'][] {
  const always = ['kill', 'stop', 'stop backend', 'terminate backend', 'restart database', 'bank behaves'] as const
  return isTruthful(bankKind) ? always : [...always, 'time passes']
}

/** A fault and when it happens, milliseconds from the start. */
export type Planned = Fault & { readonly atMs: number }

/** How long nothing goes wrong at first. */
const CALM_MS = 1_000

/** Between two faults, on average: this, or so small a part of a short time. */
const BETWEEN_MS = 2_000
const PART = 12

/** All clocks go so much forward at once, at most: no lease of a process that works is over twice. */
const TIME_MAX_MS = 60_000

/** SIGSTOP lasts up to so long. */
const STOP_MAX_MS = 90_000

/** From so long on a plan has every kind of fault, however it is drawn. */
const LONG_MS = 120_000

/**
 * Draws what goes wrong within a time.
 * @param forMs how long; a stop is over by then
 */
export function planOf(seed: number, forMs: number, bankKind: BankKind): readonly Planned[] {
  const chance = chanceOf(seed, 1)
  const plan = drawPlan(chance, forMs, bankKind)
  if (forMs >= LONG_MS) {
    const kinds = new Set(plan.map(({ kind }) => kind))
    for (const kind of faultKinds(bankKind)) if (!kinds.has(kind)) plan.push(faultOfKind(kind, chance, forMs, bankKind))
  }
  return plan.sort((one, other) => one.atMs - other.atMs)
}

function drawPlan(chance: Chance, forMs: number, bankKind: BankKind): Planned[] {
  const plan: Planned[] = []
  const betweenMs = Math.min(BETWEEN_MS, forMs / PART)
  for (let atMs = CALM_MS; ; atMs += 100 + chance.below(2 * betweenMs)) {
    const leftMs = forMs - atMs
    if (leftMs <= 0) return plan
    const fault = faultFrom(chance, leftMs, bankKind)
    plan.push({ atMs, ...fault })
    if (fault.kind === 'bank behaves') {
      plan.push({ atMs: atMs + 300 + chance.below(3_000), kind: 'bank behaves', change: WELL_BEHAVED })
    }
  }
}

function faultOfKind(kind: Fault['kind'], chance: Chance, forMs: number, bankKind: BankKind): Planned {
  const atMs = CALM_MS + chance.below(forMs / 2)
  for (;;) {
    const fault = faultFrom(chance, forMs - atMs, bankKind)
    if (fault.kind === kind) return { atMs, ...fault }
  }
}

function faultFrom(chance: Chance, leftMs: number, bankKind: BankKind): Fault {
  // What the bank says wrong counts only when it has said it for minutes.
  if (!isTruthful(bankKind) && chance.bool(0.25)) return { kind: 'time passes', ms: chance.below(TIME_MAX_MS) }
  const drawn = chance.below(100)
  if (drawn < 25) return { kind: 'kill', process: chance.pick(processNames) }
  if (drawn < 55) return { kind: 'stop', process: chance.pick(processNames), forMs: stopMs(chance, leftMs) }
  if (drawn < 72) return { kind: 'stop backend', backend: chance.below(1_000), forMs: stopMs(chance, leftMs) }
  if (drawn < 88) return { kind: 'terminate backend', backend: chance.below(1_000) }
  if (drawn < 91) return { kind: 'restart database', mode: chance.pick(['fast', 'immediate']) }
  return { kind: 'bank behaves', change: behaviorFrom(chance) }
}

/** Mostly short: a tenth of a second to three; one in six up to fifteen, one in twenty up to ninety. */
function stopMs(chance: Chance, leftMs: number): number {
  const drawn = chance.below(60)
  const longestMs = drawn < 3 ? STOP_MAX_MS : drawn < 13 ? 15_000 : 3_000
  return Math.min(100 + chance.below(longestMs), leftMs)
}

/** As every start of the bank begins. */
export const WELL_BEHAVED = {
  ...{ cashIn: 'answer', cashOut: 'auto', refundIn: 'auto', latencyMs: 0 },
  ...{ eventDelayMs: 0, eventCopies: 1, eventsShuffled: false },
} as const satisfies BankBehaviorChange

/** What also a bank does that tells the truth. */
function behaviorFrom(chance: Chance): BankBehaviorChange {
  return {
    cashOut: chance.pick(['auto', 'auto', 'auto', 'fail', 'reject', 'lost-response']),
    refundIn: chance.pick(['auto', 'auto', 'auto', 'fail', 'reject', 'lost-response']),
    cashIn: chance.pick(['answer', 'answer', 'answer', 'answer', 'reject', 'lost-response']),
    eventDelayMs: chance.pick([0, 0, 50, 500]),
    eventCopies: chance.pick([1, 1, 2]),
    eventsShuffled: chance.bool(0.5),
  }
}

/** How often each kind of fault is in a plan. */
export function dosesOf(plan: readonly Planned[]): Readonly<Record<string, number>> {
  const doses: Record<string, number> = {}
  for (const { kind } of plan) doses[kind] = (doses[kind] ?? 0) + 1
  return doses
}

/** Which bank it is: one that is slow, late and deaf but true; a liar; either without idempotent orders. */
export const bankKinds = ['truthful', 'truthful-not-idempotent', 'lying', 'lying-not-idempotent'] as const

/** One of {@link bankKinds}. */
export type BankKind = (typeof bankKinds)[number]

/** Whether a bank of this kind never says anything false when it is asked. */
export function isTruthful(kind: BankKind): boolean {
  return kind === 'truthful' || kind === 'truthful-not-idempotent'
}

/** Whether a bank of this kind carries out once what it gets twice. */
export function isIdempotent(kind: BankKind): boolean {
  return kind === 'truthful' || kind === 'lying'
}

/** How the bank is connected: by our own protocol, or by the Central Bank's standard with Efí's payouts. */
export const connectors = ['pixgate', 'efi'] as const

/** One of {@link connectors}. */
export type ConnectorName = (typeof connectors)[number]

/** Per thousand: what happens at a bank that never says anything false. */
const UNRELIABLE = {
  ...{ unavailable: 20, errorAfterExecuting: 30, silenceAfterExecuting: 20, early: 250 },
  ...{ eventDoubled: 100, eventWithoutOurIds: 150 },
} as const

/** Per thousand: what one says besides that lies. */
const FALSE = {
  ...{ falseRefusal: 8, falseNotFound: 120, falseFailure: 10, foreignAnswer: 6, wrongAmount: 6 },
  ...{ eventLost: 50, eventWrongAmount: 8, eventForeign: 8, eventFalseFailure: 15 },
} as const

/**
 * Per thousand: what happens at API Pix besides. Its callbacks prove nothing, so that what they say falsely is no lie to
 * whoever asks the bank.
 */
const AT_API_PIX = {
  ...{ tokenEndsEarly: 30, certificateRefused: 2, handshakeRefused: 10, tooManyRequests: 3, htmlAnswer: 10 },
  ...{ cutBody: 10, repeatRefused: 300, codeWithheld: 50, eventLost: 100, eventLate: 100, eventsBatched: 150 },
  ...{ eventOfStranger: 100, eventWrongAmount: 50, eventForeign: 50, eventFalseFailure: 50 },
} as const

/** How often a bank of this kind tells which lie. */
export function liesOf(kind: BankKind, connector: ConnectorName): Readonly<Record<string, number>> {
  return {
    ...UNRELIABLE,
    ...(isTruthful(kind) ? {} : FALSE),
    ...(connector === 'efi' ? AT_API_PIX : {}),
  }
}

/**
 * What a bank of this kind must have told in a run that is long enough. Who asks before an order is repeated repeats none that the
 * bank has, unless the bank denied it.
 */
export function liesToMeet(kind: BankKind, connector: ConnectorName): readonly string[] {
  return Object.keys(liesOf(kind, connector)).filter((lie) => lie !== 'repeatRefused' || !isTruthful(kind))
}

/**
 * After so long the bank has been asked about everything: the longest wait before a person is called, twice; and where what
 * went back later is listed apart, that list.
 */
export function quietAfterMs(connector: ConnectorName): number {
  const escalatedMs = 2 * limits.unknownResultEscalationMs
  return connector === 'efi' ? API_PIX_STATEMENT_DELAYS_MS.PAYMENT_TAKEN_BACK + escalatedMs : escalatedMs
}
