import { Type } from 'typebox'
import { endpoint } from './endpoint.ts'
import { limits } from './limits.ts'
import {
  between,
  CURSOR,
  cents,
  currency,
  cursorList,
  idOf,
  instant,
  knownExternalId,
  nullable,
  pageLimit,
  uuid,
} from './shapes.ts'

/**
 * The ledger: accounts, journal templates, and the entries that merchants read.
 * Double entry in signed integer centavos: the entries of every journal sum to zero. `available` is visible to the
 * merchant; the other accounts back it.
 */

/** Floors and ceilings of accounts are enforced by the database, too. @source rules#ledger.accounts */
export const accounts = {
  available: { symbol: 'AV', bound: 'not negative', meaning: 'the merchant’s available money' },
  reserved: { symbol: 'RS', bound: 'not negative', meaning: 'reservations of payouts and refunds in flight' },
  settlement: { symbol: 'ST', bound: 'none', meaning: 'the account at the bank; negative = the bank holds our money' },
  fees: { symbol: 'FE', bound: 'none', meaning: 'fees earned' },
  suspense_in: { symbol: 'SI', bound: 'none', meaning: 'credits in suspense' },
  suspense_out: { symbol: 'SO', bound: 'none', meaning: 'debits in suspense' },
  receivable: { symbol: 'RV', bound: 'not positive', meaning: 'debts of the merchant' },
  partner_fees: { symbol: 'PF', bound: 'none', meaning: 'tariffs of the bank' },
  losses: { symbol: 'LO', bound: 'none', meaning: 'write-offs; negative = loss, positive = gain' },
} as const

export type AccountCode = keyof typeof accounts

/** The merchant's names for entries of the available account. @source rules#ledger.entries */
export const entryOperations = [
  'CASH_IN',
  'CASH_OUT_RESERVE',
  'CASH_OUT',
  'CASH_OUT_RELEASE',
  'CASH_OUT_REVERSAL',
  'REFUND_IN_RESERVE',
  'REFUND_IN',
  'REFUND_IN_RELEASE',
  'FEE',
  'FORCED_DEBIT',
  'ADJUSTMENT',
] as const

export type EntryOperation = (typeof entryOperations)[number]

export const variables = {
  v: 'the value',
  f: 'the fee',
  p: 'the amount the bank reports',
  r: 'the refund',
  w: 'the returned amount',
  x: 'the repaid part of a debt',
  d: 'the part debited now',
  h: 'the held amount',
  g: 'the part of the fee debited now',
  s: 'the amount returned to a payer from suspense',
  l: 'the part that reverses a gain of the house',
} as const

export type Variable = keyof typeof variables

/** A sum of amounts: `{ v: 1, f: -1 }` is v − f. */
export type Terms = Readonly<Partial<Record<Variable, 1 | -1>>>

/** `shown` is the merchant's name for the entry; only entries of `available` have one. */
export type Posting =
  | { readonly account: 'available'; readonly amount: Terms; readonly shown: EntryOperation }
  | { readonly account: Exclude<AccountCode, 'available'>; readonly amount: Terms }

/** The amounts it needs follow from its postings. */
export interface JournalTemplate {
  /** Its code in the ledger's documentation. */
  readonly symbol: string
  readonly meaning: string
  /** Direction of the bank movement that it books; the movement's id is the journal's reference. */
  readonly movement?: 'in' | 'out'
  readonly postings: readonly Posting[]
}

/** @source rules#ledger.journals */
export const journals = {
  cash_in_paid: {
    symbol: 'J1',
    meaning: 'a charge was paid',
    movement: 'in',
    postings: [
      { account: 'available', amount: { v: 1 }, shown: 'CASH_IN' },
      { account: 'available', amount: { f: -1 }, shown: 'FEE' },
      { account: 'settlement', amount: { v: -1 } },
      { account: 'fees', amount: { f: 1 } },
    ],
  },
  debt_recovered: {
    symbol: 'RECOVER',
    meaning: 'a credit repaid a debt of the merchant',
    postings: [
      { account: 'available', amount: { x: -1 }, shown: 'FORCED_DEBIT' },
      { account: 'receivable', amount: { x: 1 } },
    ],
  },
  cash_out_reserved: {
    symbol: 'J2',
    meaning: 'a payout was accepted',
    postings: [
      { account: 'available', amount: { v: -1, f: -1 }, shown: 'CASH_OUT_RESERVE' },
      { account: 'reserved', amount: { v: 1, f: 1 } },
    ],
  },
  cash_out_confirmed: {
    symbol: 'J3',
    meaning: 'the bank confirmed the payout',
    movement: 'out',
    postings: [
      { account: 'available', amount: { v: 1, f: 1 }, shown: 'CASH_OUT_RELEASE' },
      { account: 'available', amount: { v: -1 }, shown: 'CASH_OUT' },
      { account: 'available', amount: { f: -1 }, shown: 'FEE' },
      { account: 'reserved', amount: { v: -1, f: -1 } },
      { account: 'settlement', amount: { v: 1 } },
      { account: 'fees', amount: { f: 1 } },
    ],
  },
  cash_out_released: {
    symbol: 'J4',
    meaning: 'the payout failed or was never sent',
    postings: [
      { account: 'available', amount: { v: 1, f: 1 }, shown: 'CASH_OUT_RELEASE' },
      { account: 'reserved', amount: { v: -1, f: -1 } },
    ],
  },
  cash_out_returned: {
    symbol: 'J5',
    meaning: 'a payout was returned, whole or in part',
    movement: 'in',
    postings: [
      { account: 'available', amount: { w: 1 }, shown: 'CASH_OUT_REVERSAL' },
      { account: 'settlement', amount: { w: -1 } },
    ],
  },
  refund_in_reserved: {
    symbol: 'J6',
    meaning: 'a refund was accepted',
    postings: [
      { account: 'available', amount: { r: -1 }, shown: 'REFUND_IN_RESERVE' },
      { account: 'reserved', amount: { r: 1 } },
    ],
  },
  refund_in_confirmed: {
    symbol: 'J7',
    meaning: 'the bank confirmed the refund',
    movement: 'out',
    postings: [
      { account: 'available', amount: { r: 1 }, shown: 'REFUND_IN_RELEASE' },
      { account: 'available', amount: { r: -1 }, shown: 'REFUND_IN' },
      { account: 'reserved', amount: { r: -1 } },
      { account: 'suspense_in', amount: { s: -1 } },
      { account: 'settlement', amount: { r: 1, s: 1 } },
    ],
  },
  refund_in_released: {
    symbol: 'J8',
    meaning: 'the refund failed',
    postings: [
      { account: 'available', amount: { r: 1 }, shown: 'REFUND_IN_RELEASE' },
      { account: 'reserved', amount: { r: -1 } },
    ],
  },
  left_after_release: {
    symbol: 'J9',
    meaning: 'money left after the release of its reservation; the available part is held again',
    movement: 'out',
    postings: [
      { account: 'available', amount: { h: -1 }, shown: 'CASH_OUT_RESERVE' },
      { account: 'reserved', amount: { h: 1 } },
      { account: 'settlement', amount: { v: 1 } },
      { account: 'suspense_out', amount: { v: -1 } },
    ],
  },
  left_unattributed: {
    symbol: 'J9a',
    meaning: 'a debit that cannot be attributed yet',
    movement: 'out',
    postings: [
      { account: 'settlement', amount: { p: 1 } },
      { account: 'suspense_out', amount: { p: -1 } },
    ],
  },
  arrived_unattributed: {
    symbol: 'J10',
    meaning: 'a credit that cannot be attributed yet',
    movement: 'in',
    postings: [
      { account: 'settlement', amount: { p: -1 } },
      { account: 'suspense_in', amount: { p: 1 } },
    ],
  },
  arrival_returned: {
    symbol: 'J11r',
    meaning: 'a payment in suspense was returned',
    movement: 'out',
    postings: [
      { account: 'suspense_in', amount: { p: -1 } },
      { account: 'settlement', amount: { p: 1 } },
    ],
  },
  arrival_handed_over: {
    symbol: 'J10x',
    meaning: 'an operator attributed a payment in suspense to another operation',
    postings: [
      { account: 'suspense_in', amount: { p: -1 } },
      { account: 'settlement', amount: { p: 1 } },
    ],
  },
  suspense_credited: {
    symbol: 'J11',
    meaning: 'an operator credited the merchant with a payment in suspense',
    postings: [
      { account: 'available', amount: { p: 1 }, shown: 'CASH_IN' },
      { account: 'available', amount: { f: -1 }, shown: 'FEE' },
      { account: 'suspense_in', amount: { p: -1 } },
      { account: 'fees', amount: { f: 1 } },
    ],
  },
  cash_in_attributed: {
    symbol: 'J11a',
    meaning: 'an operator attributed a payment in suspense to this charge',
    postings: [
      { account: 'available', amount: { v: 1 }, shown: 'CASH_IN' },
      { account: 'available', amount: { f: -1 }, shown: 'FEE' },
      { account: 'settlement', amount: { v: -1 } },
      { account: 'fees', amount: { f: 1 } },
    ],
  },
  payout_return_credited: {
    symbol: 'J11p',
    meaning: 'an operator credited the merchant with a payout’s return in suspense',
    postings: [
      { account: 'available', amount: { w: 1 }, shown: 'CASH_OUT_REVERSAL' },
      { account: 'suspense_in', amount: { w: -1 } },
    ],
  },
  payout_left_in_suspense: {
    symbol: 'J9c',
    meaning: 'an operator confirmed a payout from suspense; a shortfall becomes a debt',
    postings: [
      { account: 'available', amount: { h: 1 }, shown: 'CASH_OUT_RELEASE' },
      { account: 'available', amount: { d: -1 }, shown: 'CASH_OUT' },
      { account: 'available', amount: { g: -1 }, shown: 'FEE' },
      { account: 'reserved', amount: { h: -1 } },
      { account: 'suspense_out', amount: { p: 1 } },
      { account: 'fees', amount: { f: 1 } },
      { account: 'receivable', amount: { d: 1, g: 1, p: -1, f: -1 } },
    ],
  },
  refund_left_in_suspense: {
    symbol: 'J9r',
    meaning: 'an operator confirmed a refund from suspense; a shortfall becomes a debt',
    postings: [
      { account: 'available', amount: { h: 1 }, shown: 'REFUND_IN_RELEASE' },
      { account: 'available', amount: { d: -1 }, shown: 'REFUND_IN' },
      { account: 'reserved', amount: { h: -1 } },
      { account: 'suspense_out', amount: { p: 1 } },
      { account: 'suspense_in', amount: { s: -1 } },
      { account: 'receivable', amount: { d: 1, s: 1, p: -1 } },
    ],
  },
  arrival_written_off: {
    symbol: 'JW',
    meaning: 'an operator wrote off an unclaimed credit as a gain',
    postings: [
      { account: 'suspense_in', amount: { p: -1 } },
      { account: 'losses', amount: { p: 1 } },
    ],
  },
  left_written_off: {
    symbol: 'JWo',
    meaning: 'an operator wrote off a debit in suspense as a loss; its hold is released',
    postings: [
      { account: 'available', amount: { h: 1 }, shown: 'CASH_OUT_RELEASE' },
      { account: 'reserved', amount: { h: -1 } },
      { account: 'suspense_out', amount: { p: 1 } },
      { account: 'losses', amount: { p: -1 } },
    ],
  },
  return_debited: {
    symbol: 'J12s',
    meaning:
      'an operator debited the merchant with a return of the bank’s own in suspense, less what of its payment is in suspense or was booked as a gain',
    postings: [
      { account: 'available', amount: { d: -1 }, shown: 'FORCED_DEBIT' },
      { account: 'suspense_out', amount: { p: 1 } },
      { account: 'suspense_in', amount: { s: -1 } },
      { account: 'losses', amount: { l: -1 } },
      { account: 'receivable', amount: { d: 1, s: 1, l: 1, p: -1 } },
    ],
  },
  taken_by_bank: {
    symbol: 'J12',
    meaning: 'a return by the bank itself (MED, bank return)',
    movement: 'out',
    postings: [
      { account: 'available', amount: { d: -1 }, shown: 'FORCED_DEBIT' },
      { account: 'settlement', amount: { r: 1 } },
      { account: 'receivable', amount: { r: -1, d: 1 } },
    ],
  },
  return_held: {
    symbol: 'J12h',
    meaning: 'a return that may be a refund of ours; the available part is held',
    postings: [
      { account: 'available', amount: { h: -1 }, shown: 'REFUND_IN_RESERVE' },
      { account: 'reserved', amount: { h: 1 } },
      { account: 'settlement', amount: { p: 1 } },
      { account: 'suspense_out', amount: { p: -1 } },
    ],
  },
  return_known: {
    symbol: 'J12k',
    meaning: 'the return was attributed: its hold and suspense end, and it is booked',
    postings: [
      { account: 'available', amount: { h: 1 }, shown: 'REFUND_IN_RELEASE' },
      { account: 'reserved', amount: { h: -1 } },
      { account: 'settlement', amount: { p: -1 } },
      { account: 'suspense_out', amount: { p: 1 } },
    ],
  },
  tariff_deducted: {
    symbol: 'J13',
    meaning: 'the bank deducted a tariff',
    postings: [
      { account: 'settlement', amount: { p: 1 } },
      { account: 'partner_fees', amount: { p: -1 } },
    ],
  },
  adjustment_credited: {
    symbol: 'JA',
    meaning: 'an operator booked incoming money: opening balance or top-up',
    postings: [
      { account: 'available', amount: { v: 1 }, shown: 'ADJUSTMENT' },
      { account: 'settlement', amount: { v: -1 } },
    ],
  },
  adjustment_debited: {
    symbol: 'JAd',
    meaning: 'an operator booked a withdrawal at the bank',
    postings: [
      { account: 'available', amount: { v: -1 }, shown: 'ADJUSTMENT' },
      { account: 'settlement', amount: { v: 1 } },
    ],
  },
  held_arrived: {
    symbol: 'JH',
    meaning: 'an unexplained credit on the bank’s statement, held in suspense',
    postings: [
      { account: 'settlement', amount: { p: -1 } },
      { account: 'suspense_in', amount: { p: 1 } },
    ],
  },
  held_explained: {
    symbol: 'JHx',
    meaning: 'a held credit was explained; it is booked as what it is',
    postings: [
      { account: 'suspense_in', amount: { p: -1 } },
      { account: 'settlement', amount: { p: 1 } },
    ],
  },
  held_credited: {
    symbol: 'JHc',
    meaning: 'an operator credited the merchant with an unexplained credit',
    postings: [
      { account: 'suspense_in', amount: { p: -1 } },
      { account: 'available', amount: { p: 1 }, shown: 'ADJUSTMENT' },
    ],
  },
  debit_borne: {
    symbol: 'JB',
    meaning: 'the merchant bears an unexplained debit; a shortfall becomes a debt',
    movement: 'out',
    postings: [
      { account: 'settlement', amount: { v: 1 } },
      { account: 'available', amount: { d: -1 }, shown: 'FORCED_DEBIT' },
      { account: 'receivable', amount: { v: -1, d: 1 } },
    ],
  },
  debit_written_off: {
    symbol: 'JL',
    meaning: 'an unexplained debit was written off as a loss',
    movement: 'out',
    postings: [
      { account: 'settlement', amount: { v: 1 } },
      { account: 'losses', amount: { v: -1 } },
    ],
  },
  difference_borne: {
    symbol: 'JDb',
    meaning: 'the merchant bears a negative difference, bank minus books; a shortfall becomes a debt',
    postings: [
      { account: 'settlement', amount: { v: 1 } },
      { account: 'available', amount: { d: -1 }, shown: 'FORCED_DEBIT' },
      { account: 'receivable', amount: { v: -1, d: 1 } },
    ],
  },
  difference_gained: {
    symbol: 'JDg',
    meaning: 'a positive difference, bank minus books, is a gain',
    postings: [
      { account: 'settlement', amount: { v: -1 } },
      { account: 'losses', amount: { v: 1 } },
    ],
  },
  difference_lost: {
    symbol: 'JDl',
    meaning: 'a negative difference, bank minus books, is a loss',
    postings: [
      { account: 'settlement', amount: { v: 1 } },
      { account: 'losses', amount: { v: -1 } },
    ],
  },
  credit_reversed: {
    symbol: 'J1r',
    meaning: 'an operator reversed a credit that the bank’s statement lacks; a shortfall becomes a debt',
    postings: [
      { account: 'available', amount: { d: -1 }, shown: 'FORCED_DEBIT' },
      { account: 'fees', amount: { f: -1 } },
      { account: 'receivable', amount: { d: 1, f: 1, v: -1 } },
      { account: 'settlement', amount: { v: 1 } },
    ],
  },
} as const satisfies Readonly<Record<string, JournalTemplate>>

export type JournalKind = keyof typeof journals

/** An account of the ledger. */
export const ledgerAccount = Type.Enum(Object.keys(accounts) as (keyof typeof accounts)[], {
  title: 'LedgerAccount',
  description: 'An account of the ledger',
})

const entryType = Type.Enum(['CREDIT', 'DEBIT'], {
  title: 'LedgerEntryType',
  description: 'Whether the available balance grew or shrank',
})
const entryOperation = Type.Enum([...entryOperations], {
  title: 'LedgerOperation',
  description: 'Kind of movement',
})

const ledgerEntry = Type.Object(
  {
    id: uuid,
    type: entryType,
    operation: entryOperation,
    amountCents: cents('Always positive; `type` has the direction.'),
    balanceAfterCents: cents('The available balance after this entry.'),
    currency,
    referenceId: nullable(uuid),
    externalId: nullable(knownExternalId),
    transactionId: nullable(Type.String({ maxLength: 128 })),
    endToEndId: nullable(Type.String({ maxLength: 64 })),
    description: nullable(Type.String({ maxLength: limits.descriptionMaxLength })),
    createdAt: instant,
  },
  { title: 'LedgerEntry', description: 'One movement of the available balance.' },
)

const ledgerEntryExample = {
  id: '7f3c1c5e-8a2b-8d4e-8000-00000000002a',
  type: 'CREDIT',
  operation: 'CASH_IN',
  amountCents: 15000,
  balanceAfterCents: 15000,
  currency: 'BRL',
  referenceId: '0198c0de-7a11-7000-8000-5f1d3c2b1a09',
  externalId: 'order-1001',
  transactionId: '5e3f9f0c8a7b4c6d9e0f1a2b3c4d5e6f',
  endToEndId: 'E9999901020261121131500aB3dE5fG7',
  description: 'Order 1001',
  createdAt: '2026-11-21T13:15:02.417Z',
}

/** @source rules#ledger.get */
export const getLedgerEntry = endpoint({
  id: 'getLedgerEntry',
  method: 'GET',
  path: '/api/pix/ledger/{id}',
  auth: 'api-key',
  scope: 'read',
  tag: 'Ledger',
  summary: 'Read one ledger entry',
  description: 'Entries never change: an error is corrected by another entry.',
  params: idOf('ledger-entry'),
  responses: { 200: { description: 'The entry', schema: ledgerEntry, example: ledgerEntryExample } },
  errors: ['not_found'],
})

/** @source rules#ledger.list */
export const listLedgerEntries = endpoint({
  id: 'listLedgerEntries',
  method: 'GET',
  path: '/api/pix/ledger',
  auth: 'api-key',
  scope: 'read',
  tag: 'Ledger',
  summary: 'List ledger entries, newest first',
  description:
    'Every movement of the available balance, with the balance after it, by cursor: no entry is lost or repeated.',
  query: Type.Object(
    {
      cursor: Type.Optional(
        Type.String({ pattern: CURSOR, description: '`nextCursor` of the page before', examples: ['djE6NDI'] }),
      ),
      limit: pageLimit,
      type: Type.Optional(entryType),
      operation: Type.Optional(entryOperation),
      reference_id: Type.Optional({
        ...uuid,
        description: 'Only entries of the operation that has this id',
        examples: ['0198c0de-7a11-7000-8000-5f1d3c2b1a09'],
      }),
      ...between('Booked'),
    },
    { additionalProperties: false },
  ),
  responses: {
    200: {
      description: 'A page of entries',
      schema: cursorList(ledgerEntry, 'LedgerEntryPage'),
      example: { data: [ledgerEntryExample], pagination: { limit: 20, hasMore: false, nextCursor: null } },
    },
  },
  errors: ['validation_error'],
})
