import type { Chance } from '../fuzz/chance.ts'

/** The faults that are injected: each has a rate of its own, drawn for each run, and is counted when it happens. */

/** Every fault, in words. */
export const FAULTS = {
  unsent: 'a call to the bank fails before its first byte',
  'request lost': 'the bank never gets a call',
  'request late': 'the bank gets a call minutes later, when we gave it up',
  'answer lost': 'the bank does what it was asked for, and its answer is lost',
  'answer late': 'the bank’s answer takes seconds, and others are faster',
  'query stale': 'the bank says for a minute that it does not know what it has',
  'event lost': 'an event never comes',
  'event late': 'an event comes up to half an hour late',
  'event repeated': 'an event comes once more',
  'event reordered': 'an event overtakes another',
  'event unproven': 'an event comes that anybody may have sent',
  'event contradicted': 'an event comes once more and says something else',
  'event lies': 'an event tells another amount than what moved',
  'event unknown': 'an event names nothing of ours',
  'event unreadable': 'an event cannot be read',
  'event incomplete': 'an event tells that something moved, and not what',
  'event untimely': 'an event tells a time that is yet to come',
  'event failure': 'an event tells a failure that is none',
  'answer lies': 'the bank’s answer tells another amount than what it did',
  'answer contradicts': 'the bank’s answer is not about what was asked',
  'answer refuses': 'the bank refuses in words what it carries out in deed',
  'answer denies': 'the bank denies for long what it has',
  'answer invents': 'the bank tells a movement that its book does not have',
  'answer renames': 'the bank tells another reference than before',
  'payment twice': 'a charge is paid a second time',
  'payment of another amount': 'a charge is paid by another amount',
  'payment late': 'a charge is paid after its time',
  'payout of another amount': 'the bank carries out an order by another amount',
  'payout doubled': 'the bank carries out an order twice by itself',
  'payout returned': 'a payout comes back',
  'payment taken back': 'the bank takes a payment back',
  'movement of another': 'the bank tells one movement for two operations',
  'return without id': 'the bank tells a return without its id',
  'statement late': 'the statement shows a movement minutes later',
  'statement unread': 'the statement cannot be read',
  'tariff taken': 'the bank takes a tariff',
  'outcome late': 'the bank takes more than a day',
  'commit unreachable': 'the database cannot be reached',
  'commit lost before': 'a commit is lost on its way',
  'commit lost after': 'a commit is done, and its reply is lost',
  'commit stale': 'another process was faster with the same rows',
  crash: 'a process dies between two steps',
  pause: 'a process stands still for minutes and goes on',
  'request repeated': 'a client asks once more',
  suspended: 'payouts and refunds are suspended',
  'decision wrong': 'an operator decides what is not so, or proves it with another id',
} as const

/** The name of a fault. */
export type Fault = keyof typeof FAULTS

/** What a bank of some nature does not do: a truthful one is only badly connected. */
const LIES: ReadonlySet<Fault> = new Set([
  'event contradicted',
  'event lies',
  'event failure',
  'event untimely',
  'answer lies',
  'answer contradicts',
  'answer refuses',
  'answer denies',
  'answer invents',
  'answer renames',
  'payout of another amount',
  'payout doubled',
  'movement of another',
  'return without id',
])

/** What happens in worlds of its own alone: no rate of it is drawn. */
const UNDRAWN: ReadonlySet<Fault> = new Set(['decision wrong'])

/** How the bank of a run is. */
export type Nature = 'truthful' | 'lying'

/** Is told of each fault that happens. */
export type OnFault = (fault: Fault) => void

/** Whether faults happen. */
export class Faults {
  readonly #chance: Chance
  readonly #rates = new Map<Fault, number>()
  readonly #onFault: OnFault
  /** Off: the world is as it should be. */
  isOn = true

  /** @param share of the faults that happen otherwise, from 0 to 1: what takes long needs a world in which little else goes wrong */
  constructor(chance: Chance, nature: Nature, share: number, onFault: OnFault) {
    this.#chance = chance
    this.#onFault = onFault
    for (const fault of Object.keys(FAULTS) as Fault[]) {
      if (UNDRAWN.has(fault)) continue
      const isPossible = nature === 'lying' || !LIES.has(fault)
      const rate = fault === 'event repeated' ? 50 + chance.below(50) : chance.below(100)
      this.#rates.set(fault, isPossible ? (rate / 100) * share : 0)
    }
  }

  /** Whether a fault happens that happens with this probability at most; it is counted. */
  hit(fault: Fault, limit: number): boolean {
    if (!this.isOn || !this.#chance.bool(limit * (this.#rates.get(fault) ?? 0))) return false
    this.#onFault(fault)
    return true
  }

  /** Counts one that happened by itself. */
  note(fault: Fault): void {
    if (this.isOn) this.#onFault(fault)
  }
}
