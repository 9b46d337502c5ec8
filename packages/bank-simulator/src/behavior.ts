import type { BankBehavior, BankBehaviorChange } from '@pixgate/spec'

/** Behaviour after every start. */
const WELL_BEHAVED: BankBehavior = {
  cashIn: 'answer',
  cashOut: 'auto',
  refundIn: 'auto',
  latencyMs: 0,
  eventDelayMs: 0,
  eventCopies: 1,
  eventsShuffled: false,
}

/**
 * Holds the bank's behaviour, which a test or a developer can change until the next restart.
 * @source rules#sandbox.5
 */
export class Switchboard {
  #behavior = WELL_BEHAVED

  /** The current behaviour. */
  get behavior(): BankBehavior {
    return this.#behavior
  }

  /** Changes the given fields. @returns the complete new behaviour */
  change(change: BankBehaviorChange): BankBehavior {
    this.#behavior = { ...this.#behavior, ...change }
    return this.#behavior
  }
}
