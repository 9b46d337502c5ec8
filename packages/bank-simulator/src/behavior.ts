import { type Static, Type } from 'typebox'

/**
 * How the simulated bank behaves from now on. A restart resets it.
 * @source rules#sandbox.5
 */

const outcome = Type.Union([
  Type.Literal('auto'),
  Type.Literal('manual'),
  Type.Literal('fail'),
  Type.Literal('reject'),
  Type.Literal('timeout'),
  Type.Literal('lost-response'),
])

/** Fields left out keep their value. */
export const behaviorChange = Type.Partial(
  Type.Object({
    cashIn: Type.Union([
      Type.Literal('answer'),
      Type.Literal('reject'),
      Type.Literal('timeout'),
      Type.Literal('lost-response'),
    ]),
    cashOut: outcome,
    refundIn: outcome,
    latencyMs: Type.Integer({ minimum: 0, maximum: 600_000 }),
    eventDelayMs: Type.Integer({ minimum: 0, maximum: 600_000 }),
    eventCopies: Type.Integer({ minimum: 1, maximum: 5 }),
    eventsShuffled: Type.Boolean(),
  }),
  { additionalProperties: false },
)

/** The whole behaviour. */
export type Behavior = Required<Static<typeof behaviorChange>>

/** A bank that does what it should. */
export const GOOD_BEHAVIOR: Behavior = {
  cashIn: 'answer',
  cashOut: 'auto',
  refundIn: 'auto',
  latencyMs: 0,
  eventDelayMs: 0,
  eventCopies: 1,
  eventsShuffled: false,
}
