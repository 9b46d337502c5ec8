import type { BankBehavior } from '@pixgate/spec'
import type { FastifyReply } from 'fastify'
import type { Bank } from './bank.ts'
import { markersIn } from './markers.ts'
import { type RefusalCode, Refused } from './refused.ts'
import type { Settler } from './settler.ts'

/** An instruction to the bank, received over either of its protocols. */
export interface Instruction<Result> {
  /** See {@link behaviorFor}. */
  readonly behavior: BankBehavior['cashIn' | 'cashOut' | 'refundIn']
  /** Whether the bank accepted this instruction before. Such an instruction is never rejected. */
  readonly isKnown: boolean
  /** Code of the refusal if the bank is configured to refuse such instructions. */
  readonly refusal: RefusalCode
  /** Name of the operations in the refusal's message. */
  readonly things: 'charges' | 'payouts' | 'refunds'
  execute(): Result
  /** Settles an order that moves money. Only such orders can be executed and refused anyway. */
  settle?(): Promise<void>
  answer(result: Result): object
}

/** Unanswered connections are closed after this time. */
const UNANSWERED_MAX_MS = 60_000

/** Time between an early event and the response. */
const EARLY_MS = 150

/**
 * Executes an instruction, or misbehaves as configured: refuses it, never responds, closes the connection or lies.
 * @throws Refused as the instruction does; as configured
 * @source rules#sandbox.5, rules#sandbox.11
 */
export async function executeInstruction<Result>(
  { book, liar }: Bank,
  reply: FastifyReply,
  { behavior, isKnown, refusal, things, execute, settle, answer }: Instruction<Result>,
): Promise<object | undefined> {
  if (behavior === 'timeout') return neverRespond(reply)
  liar.throwIfTold('unavailable')
  if (behavior === 'reject' && !isKnown) throw new Refused(refusal, `the bank refuses ${things}`)
  const result = execute()
  await settle?.()
  if (behavior === 'lost-response') return book.durable().then(() => closeConnection(reply))
  if (liar.tells('silenceAfterExecuting')) return book.durable().then(() => neverRespond(reply))
  liar.throwIfTold('errorAfterExecuting')
  if (settle && liar.tells('falseRefusal')) throw new Refused(refusal, 'the bank refuses the order')
  return answer(result)
}

/** Settles an order in the background, or before the response if the lie `early` applies. */
export async function settleOrder({ liar, clock }: Bank, settler: Settler, key: string): Promise<void> {
  if (!liar.tells('early')) return settler.settle(key)
  settler.settleNow(key)
  await clock.sleep(EARLY_MS)
}

/** Behaviour for an operation with this text: that of its marker, or the bank's. */
export function behaviorFor<Behavior>(text: string | undefined, behavior: Behavior) {
  return markersIn(text).behavior ?? behavior
}

/** How an order that is accepted under this behaviour settles. */
export function courseFor(behavior: BankBehavior['cashOut' | 'refundIn']): 'auto' | 'manual' | 'fail' {
  return behavior === 'manual' || behavior === 'fail' ? behavior : 'auto'
}

function neverRespond(reply: FastifyReply): undefined {
  const { socket } = reply.hijack().request
  socket.setTimeout(UNANSWERED_MAX_MS, () => socket.destroy())
}

function closeConnection(reply: FastifyReply): undefined {
  reply.hijack().request.socket.destroy()
}
