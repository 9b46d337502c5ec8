import { type Static, Type } from 'typebox'
import { Refused } from './refused.ts'

/** The lies the bank can tell; its book never lies. @source rules#sandbox.11 */
export const lies = {
  unavailable: 'a call is answered 500, and nothing is done',
  errorAfterExecuting: 'an order is carried out and answered 500',
  silenceAfterExecuting: 'an order is carried out and never answered',
  early: 'an order is settled, and its event sent, before it is answered',
  falseRefusal: 'a payout or a refund is carried out, and answered 422',
  falseNotFound: 'a question about what is known is answered 404, and so are some of the next ones about it',
  falseFailure: 'what did not fail is said to have failed, in an answer',
  foreignAnswer: 'an answer is about something else of the same kind',
  wrongAmount: 'an answer tells a centavo more than moved',
  eventLost: 'an event is never sent',
  eventDoubled: 'an event is sent twice',
  eventWithoutOurIds: 'an event tells the bank’s reference alone',
  eventWrongAmount: 'an event tells a centavo more than moved',
  eventForeign: 'an event bears the references of something else of the same kind',
  eventFalseFailure: 'an event of a failure goes before one of a success',
  balanceShort: 'the balance is R$ 100,00 less than it is; the statement is true',
  tokenEndsEarly: 'API Pix: a token ends before its time',
  certificateRefused: 'API Pix: a call is answered 403, as if its certificate were another’s',
  handshakeRefused: 'API Pix: a connection is closed before TLS begins',
  repeatRefused: 'API Pix: what is asked for again is answered 400 or 409, although it is done',
  codeWithheld: 'API Pix: a charge is answered without pixCopiaECola',
  tooManyRequests: 'API Pix: a call is answered 429 with Retry-After, and nothing is done',
  htmlAnswer: 'API Pix: a call is answered 502 with HTML, as by a proxy, and nothing is done',
  cutBody: 'API Pix: an answer ends in its middle',
  eventsBatched: 'API Pix: a callback waits, and goes out with others of its key in one call',
  eventOfStranger: 'API Pix: a callback of a key that is not of this account goes before a true one',
  eventLate: 'API Pix: a callback goes out ten seconds late',
} as const

/** One of {@link lies}. */
export type Lie = keyof typeof lies

/** How often each lie is told, per thousand occasions, and the seed that decides at which; `{}` is the truth. */
export const lying = Type.Object(
  {
    seed: Type.Optional(Type.Integer({ minimum: 0 })),
    perThousand: Type.Optional(
      Type.Partial(
        Type.Object(
          Object.fromEntries(Object.keys(lies).map((lie) => [lie, Type.Integer({ minimum: 0, maximum: 1_000 })])),
          { additionalProperties: false },
        ),
        { additionalProperties: false },
      ),
    ),
  },
  { additionalProperties: false },
)

/** See {@link lying}. */
export type Lying = Static<typeof lying> & { readonly perThousand?: Readonly<Partial<Record<Lie, number>>> }

/** Decides when the bank lies: the n-th occasion of a lie under a seed is always decided the same way. */
export class Liar {
  #lying: Lying = {}
  readonly #occasions = new Map<Lie, number>()
  readonly #forgotten = new Map<string, number>()
  readonly #counts = new Map<Lie, number>()

  /** Lies from now on as it is told, from the first occasion on. */
  change(lying: Lying): void {
    this.#lying = lying
    this.#occasions.clear()
    this.#forgotten.clear()
  }

  /** How it lies now. */
  get lying(): Lying {
    return this.#lying
  }

  /** How often each lie was told since the start. */
  get counts(): Readonly<Partial<Record<Lie, number>>> {
    return Object.fromEntries(this.#counts)
  }

  /** Whether this occasion is one for the lie. */
  tells(lie: Lie): boolean {
    const { seed = 0, perThousand = {} } = this.#lying
    const rate = perThousand[lie] ?? 0
    if (rate === 0) return false
    const occasion = (this.#occasions.get(lie) ?? 0) + 1
    this.#occasions.set(lie, occasion)
    const isOccasion = scramble(scramble(seed ^ scramble(LIES.indexOf(lie) + 1)) ^ occasion) % 1_000 < rate
    if (isOccasion) this.#counts.set(lie, (this.#counts.get(lie) ?? 0) + 1)
    return isOccasion
  }

  /** For how many questions something is forgotten. */
  #bout(): number {
    return 1 + (scramble(this.#occasions.get('falseNotFound') ?? 0) % FORGOTTEN_MAX)
  }

  /** @throws Refused internal_error (500), where this is a lie's occasion */
  mayFail(lie: 'unavailable' | 'errorAfterExecuting'): void {
    if (this.tells(lie)) throw new Refused('internal_error', 'the bank is not available')
  }

  /**
   * @param id what is asked about
   * @throws Refused not_found, although it is known; then at some of the next questions about it too
   */
  mayForget(id: string): void {
    const left = this.#forgotten.get(id) ?? (this.tells('falseNotFound') ? this.#bout() : 0)
    if (left === 0) return
    if (left === 1) this.#forgotten.delete(id)
    else this.#forgotten.set(id, left - 1)
    throw new Refused('not_found', 'there is no such thing')
  }

  /**
   * What is told of an operation.
   * @param others of the same kind
   */
  say<T extends Told>(truth: T, others: Iterable<T>): object {
    switch (this.falsehood()) {
      case 'foreignAnswer':
        return another(truth, others)
      case 'wrongAmount':
        return withAnotherAmount(truth)
      case 'falseFailure':
        return failed(truth)
      default:
        return truth
    }
  }

  /** Which lie an answer about an operation is to tell, if any. */
  falsehood(): Falsehood | undefined {
    return FALSEHOODS.find((lie) => this.tells(lie))
  }
}

/** What is told of anything. */
type Told = { readonly id: string; readonly valueCents: number }

/** A lie that an answer about an operation can tell. */
export type Falsehood = (typeof FALSEHOODS)[number]

const FALSEHOODS = ['foreignAnswer', 'wrongAmount', 'falseFailure'] as const

const FORGOTTEN_MAX = 12

const LIES = Object.keys(lies)

function another<T extends Told>(truth: T, others: Iterable<T>): T {
  for (const other of others) if (other.id !== truth.id) return other
  return truth
}

function withAnotherAmount<T extends Told>(truth: T): T {
  const { payments } = truth as T & { readonly payments?: readonly Told[] }
  return { ...truth, valueCents: truth.valueCents + 1, ...(payments && { payments: payments.map(withAnotherAmount) }) }
}

/** The same, come to nothing: without what moved. */
function failed<T extends Told>(truth: T): object {
  const { endToEndId: _, returnId: __, occurredAt: ___, ...rest } = truth as T & Partial<Record<string, unknown>>
  const nothing = { ...('payments' in truth && { payments: [] }), ...('returns' in truth && { returns: [] }) }
  return { ...rest, ...nothing, status: 'FAILED', errorCode: 'AC07', errorMessage: 'the account is closed' }
}

/** The finaliser of MurmurHash3: every bit of the input moves half of the output's. */
function scramble(value: number): number {
  let mixed = value | 0
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b)
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35)
  return (mixed ^ (mixed >>> 16)) >>> 0
}
