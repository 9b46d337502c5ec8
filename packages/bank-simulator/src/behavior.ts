import type { BankBehavior, BankBehaviorChange } from '@pixgate/spec'

/** How every start begins. */
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
 * The switches by which a test or a developer changes the bank until it is started again.
 * @source rules#sandbox.5
 */
export class Switchboard {
  #behavior = WELL_BEHAVED

  /** How the bank behaves now. */
  get behavior(): BankBehavior {
    return this.#behavior
  }

  /** Changes the fields given. @returns the whole behaviour that follows */
  change(change: BankBehaviorChange): BankBehavior {
    this.#behavior = { ...this.#behavior, ...change }
    return this.#behavior
  }
}
