import { type Static, Type } from 'typebox'

const moneyOut = ['auto', 'manual', 'fail', 'reject', 'timeout', 'lost-response'] as const

/**
 * A change of how the bank behaves; fields left out keep their value.
 * @source decisions, «Running it», `PUT /sandbox/behavior`
 */
export const behaviorChange = Type.Partial(
  Type.Object({
    /**
     * What `PUT /charges/{id}` meets: `answer`; `reject`, a definite refusal; `timeout`, never executed and never
     * answered; `lost-response`, executed and never answered.
     */
    cashIn: Type.Enum(['answer', 'reject', 'timeout', 'lost-response']),
    /** What becomes of payouts. */
    cashOut: Type.Enum([...moneyOut]),
    /** What becomes of refunds. */
    refundIn: Type.Enum([...moneyOut]),
    /** By how much every answer to the service is late. What was asked for is done at once. */
    latencyMs: Type.Integer({ minimum: 0, maximum: 600_000 }),
    /** From what happens to the first attempt to tell of it. */
    eventDelayMs: Type.Integer({ minimum: 0, maximum: 3_600_000 }),
    /** How often each event is delivered. */
    eventCopies: Type.Integer({ minimum: 1, maximum: 5 }),
    /** Whether events overtake each other. */
    eventsShuffled: Type.Boolean(),
  }),
  { additionalProperties: false },
)

/** How the bank behaves. */
export type Behavior = Readonly<Required<Static<typeof behaviorChange>>>

/** How every start begins. */
const WELL_BEHAVED: Behavior = {
  cashIn: 'answer',
  cashOut: 'auto',
  refundIn: 'auto',
  latencyMs: 0,
  eventDelayMs: 0,
  eventCopies: 1,
  eventsShuffled: false,
}

/** The switches by which a test or a developer changes the bank until it is started again. */
export class Switchboard {
  #behavior = WELL_BEHAVED

  /** How the bank behaves now. */
  get behavior(): Behavior {
    return this.#behavior
  }

  /** Changes the fields given. @returns the whole behaviour that follows */
  change(change: Partial<Behavior>): Behavior {
    this.#behavior = { ...this.#behavior, ...change }
    return this.#behavior
  }
}
