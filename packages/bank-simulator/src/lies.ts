import { type Static, Type } from 'typebox'
import { Refused } from './refused.ts'

/** Faults and false answers that the bank can inject. Its book stays correct. @source rules#sandbox.11 */
export const lies = {
  unavailable: 'responds 500 without executing the request',
  errorAfterExecuting: 'executes an order and responds 500',
  silenceAfterExecuting: 'executes an order and never responds',
  early: 'settles an order and sends its event before the response',
  falseRefusal: 'executes a payout or refund and responds 422',
  falseNotFound: 'responds 404 to a query about a known operation, and to some of the next queries about it',
  falseFailure: 'reports in a response that an operation failed, although it did not',
  foreignAnswer: 'responds with another operation of the same kind',
  wrongAmount: 'reports in a response an amount that is one centavo too high',
  eventLost: 'never sends an event',
  eventDoubled: 'sends an event twice',
  eventWithoutOurIds: 'sends an event with only the bank’s reference',
  eventWrongAmount: 'sends an event with an amount that is one centavo too high',
  eventForeign: 'sends an event with the references of another operation of the same kind',
  eventFalseFailure: 'sends a failure event before a success event',
  balanceShort: 'reports a balance that is R$ 100,00 too low; the statement is correct',
  tokenEndsEarly: 'API Pix: a token expires early',
  certificateRefused: 'API Pix: responds 403, as to a client certificate of another participant',
  handshakeRefused: 'API Pix: closes a connection before the TLS handshake',
  repeatRefused: 'API Pix: responds 400 or 409 to a repeated request that was executed before',
  codeWithheld: 'API Pix: responds with a charge without pixCopiaECola',
  tooManyRequests: 'API Pix: responds 429 with Retry-After without executing the request',
  htmlAnswer: 'API Pix: responds 502 with HTML, as a proxy does, without executing the request',
  cutBody: 'API Pix: truncates a response body',
  eventsBatched: 'API Pix: delays a callback and sends it in one request with others of its key',
  eventOfStranger: 'API Pix: sends a callback for a key of another account before a true one',
  eventLate: 'API Pix: sends a callback ten seconds late',
} as const

/** Name of one of {@link lies}. */
export type Lie = keyof typeof lies

/** Rate of each lie per thousand opportunities, and the seed that selects them. `{}` disables all lies. */
export const lieSettings = Type.Object(
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

/** See {@link lieSettings}. */
export type LieSettings = Static<typeof lieSettings> & { readonly perThousand?: Readonly<Partial<Record<Lie, number>>> }

/** Decides when the bank lies. Deterministic: under one seed, the n-th opportunity of a lie always has the same outcome. */
export class Liar {
  #settings: LieSettings = {}
  readonly #opportunities = new Map<Lie, number>()
  readonly #falseNotFoundLeft = new Map<string, number>()
  readonly #counts = new Map<Lie, number>()

  /** Replaces the settings and restarts the count of opportunities. */
  change(settings: LieSettings): void {
    this.#settings = settings
    this.#opportunities.clear()
    this.#falseNotFoundLeft.clear()
  }

  /** The current settings. */
  get settings(): LieSettings {
    return this.#settings
  }

  /** Number of uses of each lie since the start. */
  get counts(): Readonly<Partial<Record<Lie, number>>> {
    return Object.fromEntries(this.#counts)
  }

  /** Counts one opportunity for the lie. @returns whether to tell it */
  tells(lie: Lie): boolean {
    const { seed = 0, perThousand = {} } = this.#settings
    const rate = perThousand[lie] ?? 0
    if (rate === 0) return false
    const opportunity = (this.#opportunities.get(lie) ?? 0) + 1
    this.#opportunities.set(lie, opportunity)
    const isTold = scramble(scramble(seed ^ scramble(LIES.indexOf(lie) + 1)) ^ opportunity) % 1_000 < rate
    if (isTold) this.#counts.set(lie, (this.#counts.get(lie) ?? 0) + 1)
    return isTold
  }

  /** Number of consecutive queries about an operation that get 404. */
  #falseNotFoundCount(): number {
    return 1 + (scramble(this.#opportunities.get('falseNotFound') ?? 0) % FALSE_NOT_FOUND_MAX)
  }

  /** Responds 500 if the lie applies. @throws Refused internal_error */
  throwIfTold(lie: 'unavailable' | 'errorAfterExecuting'): void {
    if (this.tells(lie)) throw new Refused('internal_error', 'the bank is unavailable')
  }

  /** Reports a known operation as unknown, also to some of the next queries about it. @throws Refused not_found */
  throwNotFoundIfTold(id: string): void {
    const left = this.#falseNotFoundLeft.get(id) ?? (this.tells('falseNotFound') ? this.#falseNotFoundCount() : 0)
    if (left === 0) return
    if (left === 1) this.#falseNotFoundLeft.delete(id)
    else this.#falseNotFoundLeft.set(id, left - 1)
    throw new Refused('not_found', 'not found')
  }

  /** Response body for an operation, or a lie about it. @param others operations of the same kind */
  answer<T extends Reported>(truth: T, others: Iterable<T>): object {
    switch (this.answerLie()) {
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

  /** The lie to tell in a response about an operation, if any. */
  answerLie(): AnswerLie | undefined {
    return ANSWER_LIES.find((lie) => this.tells(lie))
  }
}

/** Fields that responses about all operations have. */
type Reported = { readonly id: string; readonly valueCents: number }

/** A lie in a response about an operation. */
export type AnswerLie = (typeof ANSWER_LIES)[number]

const ANSWER_LIES = ['foreignAnswer', 'wrongAmount', 'falseFailure'] as const

const FALSE_NOT_FOUND_MAX = 12

const LIES = Object.keys(lies)

function another<T extends Reported>(truth: T, others: Iterable<T>): T {
  for (const other of others) if (other.id !== truth.id) return other
  return truth
}

function withAnotherAmount<T extends Reported>(truth: T): T {
  const { payments } = truth as T & { readonly payments?: readonly Reported[] }
  return { ...truth, valueCents: truth.valueCents + 1, ...(payments && { payments: payments.map(withAnotherAmount) }) }
}

/** The same operation as failed, without the data of its payment. */
function failed<T extends Reported>(truth: T): object {
  const { endToEndId: _, returnId: __, occurredAt: ___, ...rest } = truth as T & Partial<Record<string, unknown>>
  const nothing = { ...('payments' in truth && { payments: [] }), ...('returns' in truth && { returns: [] }) }
  return { ...rest, ...nothing, status: 'FAILED', errorCode: 'AC07', errorMessage: 'the account is closed' }
}

/** Finaliser of MurmurHash3: each input bit changes about half of the output bits. */
function scramble(value: number): number {
  let mixed = value | 0
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b)
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35)
  return (mixed ^ (mixed >>> 16)) >>> 0
}
