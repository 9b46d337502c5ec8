import type { Document } from '../engine/operation.ts'

/** Who asked for an operation, and from where: it stands on the operation, and on the move that made it. @source rules#limits.7 */
export type MadeBy = {
  /** The id of the API key, or of the operator. */
  readonly caller: string
  readonly address: string
}

/** The part of an operation's facts that tells it; absent where the bank made the operation, or a version that kept none. */
export interface MadeByFact extends Document {
  readonly madeBy?: MadeBy
}
