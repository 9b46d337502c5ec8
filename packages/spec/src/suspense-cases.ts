import { cashIn } from './cash-in/index.ts'
import { cashOut } from './cash-out/index.ts'
import { type JournalTemplate, journals } from './ledger.ts'
import { refundIn } from './refund-in/index.ts'

/**
 * The kinds of cases that are opened with money in suspense. The end of a doubt closes none of them: whose that money is
 * an operator decides, or what explains it.
 * @source rules#ledger.suspense
 */
export const suspenseCases: ReadonlySet<string> = new Set(
  [...cashIn.lines, ...cashOut.lines, ...refundIn.lines].flatMap(({ posts, opens }) =>
    posts !== undefined && opens !== undefined && movesSuspense(journals[posts]) ? [opens] : [],
  ),
)

function movesSuspense({ postings }: JournalTemplate): boolean {
  return postings.some(({ account }) => account === 'suspense_in' || account === 'suspense_out')
}
