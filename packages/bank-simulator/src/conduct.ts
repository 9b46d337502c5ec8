import type { BankBehavior } from '@pixgate/spec'
import type { FastifyReply } from 'fastify'
import type { Bank } from './bank.ts'
import { type RefusalCode, Refused } from './refused.ts'
import type { Settler } from './settler.ts'

/** Something the bank is told to do, by either of its protocols. */
export interface Instruction<Result> {
  readonly behavior: BankBehavior['cashIn' | 'cashOut' | 'refundIn']
  /** What was accepted once stays accepted. */
  readonly isKnown: boolean
  /** Under which code the bank refuses it, where it is to refuse such things. */
  readonly refusal: RefusalCode
  /** The things, as its refusal names them. */
  readonly things: 'charges' | 'payouts' | 'refunds'
  execute(): Result
  /** Of an order that moves money; it may also be refused although it is carried out. */
  settle?(): Promise<void>
  answer(result: Result): object
}

/** A caller that has not hung up by then is hung up on. */
const SILENCE_MAX_MS = 60_000

/** So long an early event is ahead of the answer. */
const EARLY_MS = 150

/**
 * Does what the bank is told to, or what it is configured to do instead: refuses, keeps silent, hangs up, lies.
 * @throws Refused as the instruction does; as configured
 * @source rules#sandbox.5, rules#sandbox.11
 */
export async function carryOut<Result>(
  { book, liar }: Bank,
  reply: FastifyReply,
  { behavior, isKnown, refusal, things, execute, settle, answer }: Instruction<Result>,
): Promise<object | undefined> {
  if (behavior === 'timeout') return keepSilent(reply)
  liar.mayFail('unavailable')
  if (behavior === 'reject' && !isKnown) throw new Refused(refusal, `the bank refuses ${things}`)
  const result = execute()
  await settle?.()
  if (behavior === 'lost-response') return book.durable().then(() => hangUp(reply))
  if (liar.tells('silenceAfterExecuting')) return book.durable().then(() => keepSilent(reply))
  liar.mayFail('errorAfterExecuting')
  if (settle && liar.tells('falseRefusal')) throw new Refused(refusal, 'the bank refuses it')
  return answer(result)
}

/** A moment later; or, where the bank is early, before it answers. */
export async function settleOrder({ liar, clock }: Bank, settler: Settler, key: string): Promise<void> {
  if (!liar.tells('early')) return settler.settle(key)
  settler.settleNow(key)
  await clock.sleep(EARLY_MS)
}

/** What becomes of an order that is accepted while the bank behaves so. */
export function courseUnder(behavior: BankBehavior['cashOut' | 'refundIn']): 'auto' | 'manual' | 'fail' {
  return behavior === 'manual' || behavior === 'fail' ? behavior : 'auto'
}

function keepSilent(reply: FastifyReply): undefined {
  const { socket } = reply.hijack().request
  socket.setTimeout(SILENCE_MAX_MS, () => socket.destroy())
}

function hangUp(reply: FastifyReply): undefined {
  reply.hijack().request.socket.destroy()
}
