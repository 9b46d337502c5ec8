import { dashedId } from '../../src/banks/api-pix/ids.ts'
import { ask, type BankBook } from './process-world.ts'
import { PARTNER_TOKEN } from './world.ts'

/** The bank's own account of what happened, under our ids however it writes them. @throws Error where it is not there */
export async function bookAt(bankUrl: string): Promise<BankBook> {
  const answer = await ask(`${bankUrl}/control/book`, PARTNER_TOKEN, 'GET')
  if (answer?.status !== 200) throw new Error('the bank has no book')
  const book: BankBook = answer.body
  return {
    ...book,
    charges: book.charges.map(underOurId),
    payouts: book.payouts.map(underOurId),
    refunds: book.refunds.map(underOurId),
    entries: book.entries.map((entry) => ({ ...entry, reference: dashedId(entry.reference) })),
  }
}

function underOurId<T extends { readonly id: string }>(one: T): T {
  return { ...one, id: dashedId(one.id) }
}
