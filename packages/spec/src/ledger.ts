import { Type } from 'typebox'
import { endpoint } from './endpoint.ts'
import { limits } from './limits.ts'
import {
  CURSOR,
  cents,
  currency,
  cursorList,
  idOf,
  instant,
  knownExternalId,
  nullable,
  pageLimit,
  utcDay,
  uuid,
} from './shapes.ts'

/**
 * The ledger: accounts, templates of journals, and the merchant's view of entries.
 *
 * Double entry in signed integer centavos: the entries of every journal sum to zero. The merchant sees `available`; the
 * other accounts are its counterparts.
 */

/** The database enforces an account's floor or ceiling too. @source rules#ledger.accounts */
export const accounts = {
  available: { symbol: 'AV', bound: 'not negative', meaning: "the merchant's money, free to use" },
  reserved: { symbol: 'RS', bound: 'not negative', meaning: 'set aside for payouts and refunds under way' },
  settlement: { symbol: 'ST', bound: 'none', meaning: 'the partner; negative = the partner holds money for us' },
  fees: { symbol: 'FE', bound: 'none', meaning: 'fees earned' },
  suspense_in: { symbol: 'SI', bound: 'none', meaning: 'money that arrived and belongs to nobody yet' },
  suspense_out: { symbol: 'SO', bound: 'none', meaning: 'money that left although the operation says otherwise' },
  receivable: { symbol: 'RV', bound: 'not positive', meaning: 'what the merchant owes' },
  partner_fees: { symbol: 'PF', bound: 'none', meaning: 'tariffs the bank deducted' },
  losses: { symbol: 'LO', bound: 'none', meaning: 'what operators wrote off; negative = a loss, positive = a gain' },
} as const

/** The code of an account. */
export type AccountCode = keyof typeof accounts

/** Names of the available account's entries for the merchant. @source rules#ledger.entries */
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

/** Amounts of which postings are composed. */
export const variables = {
  v: 'the value',
  f: 'the fee',
  p: 'what the partner states',
  r: 'the refund',
  w: 'what was returned',
  x: 'what is repaid of a debt',
  d: 'what is taken now',
  h: 'what is held, or held again',
  g: 'what is taken now of the fee',
  s: 'what is returned to a payer out of suspense',
} as const

export type Variable = keyof typeof variables

/** A sum of amounts: `{ v: 1, f: -1 }` is v − f. */
export type Terms = Readonly<Partial<Record<Variable, 1 | -1>>>

/** An entry of a journal. `shown` is the merchant's name for it; only entries of `available` have one. */
export type Posting =
  | { readonly account: 'available'; readonly amount: Terms; readonly shown: EntryOperation }
  | { readonly account: Exclude<AccountCode, 'available'>; readonly amount: Terms }

/** Template of a journal. Its postings define the amounts it needs. */
export interface JournalTemplate {
  /** Code in the ledger's documentation. */
  readonly symbol: string
  readonly meaning: string
  /** Direction of the bank movement it books, whose id is the journal's reference. */
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
    meaning: 'a credit repaid what the merchant owed',
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
    meaning: 'the partner sent it',
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
    meaning: 'a sent payout came back, whole or in part',
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
    meaning: 'the partner returned the money',
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
    meaning: 'money left after its hold was given back; what is there is held again',
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
    meaning: 'money left that cannot be attributed yet',
    movement: 'out',
    postings: [
      { account: 'settlement', amount: { p: 1 } },
      { account: 'suspense_out', amount: { p: -1 } },
    ],
  },
  arrived_unattributed: {
    symbol: 'J10',
    meaning: 'money arrived that cannot be applied',
    movement: 'in',
    postings: [
      { account: 'settlement', amount: { p: -1 } },
      { account: 'suspense_in', amount: { p: 1 } },
    ],
  },
  arrival_returned: {
    symbol: 'J11r',
    meaning: 'money that had arrived and was in suspense went back',
    movement: 'out',
    postings: [
      { account: 'suspense_in', amount: { p: -1 } },
      { account: 'settlement', amount: { p: 1 } },
    ],
  },
  arrival_handed_over: {
    symbol: 'J10x',
    meaning: 'what was in suspense as arrived is, as an operator decided, booked on another operation',
    postings: [
      { account: 'suspense_in', amount: { p: -1 } },
      { account: 'settlement', amount: { p: 1 } },
    ],
  },
  suspense_credited: {
    symbol: 'J11',
    meaning: 'an operator credited the merchant with a payment that was in suspense',
    postings: [
      { account: 'available', amount: { p: 1 }, shown: 'CASH_IN' },
      { account: 'available', amount: { f: -1 }, shown: 'FEE' },
      { account: 'suspense_in', amount: { p: -1 } },
      { account: 'fees', amount: { f: 1 } },
    ],
  },
  cash_in_attributed: {
    symbol: 'J11a',
    meaning: 'an operator attributed to a charge a payment that was in suspense on another one',
    postings: [
      { account: 'available', amount: { v: 1 }, shown: 'CASH_IN' },
      { account: 'available', amount: { f: -1 }, shown: 'FEE' },
      { account: 'settlement', amount: { v: -1 } },
      { account: 'fees', amount: { f: 1 } },
    ],
  },
  payout_return_credited: {
    symbol: 'J11p',
    meaning: 'an operator credited the merchant with a return of a payout that was in suspense',
    postings: [
      { account: 'available', amount: { w: 1 }, shown: 'CASH_OUT_REVERSAL' },
      { account: 'suspense_in', amount: { w: -1 } },
    ],
  },
  payout_left_in_suspense: {
    symbol: 'J9c',
    meaning: 'an operator confirmed a payout by money that was in suspense; what is not there is owed',
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
    meaning: 'an operator confirmed a refund by money that was in suspense; what is not there is owed',
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
    meaning: 'an operator booked as a gain what arrived and is nobody’s',
    postings: [
      { account: 'suspense_in', amount: { p: -1 } },
      { account: 'losses', amount: { p: 1 } },
    ],
  },
  left_written_off: {
    symbol: 'JWo',
    meaning: 'an operator booked as a loss what left and is nobody’s; what was held of it is free again',
    postings: [
      { account: 'available', amount: { h: 1 }, shown: 'CASH_OUT_RELEASE' },
      { account: 'reserved', amount: { h: -1 } },
      { account: 'suspense_out', amount: { p: 1 } },
      { account: 'losses', amount: { p: -1 } },
    ],
  },
  return_debited: {
    symbol: 'J12s',
    meaning: 'an operator debited the merchant with a return of the bank’s own that was in suspense',
    postings: [
      { account: 'available', amount: { d: -1 }, shown: 'FORCED_DEBIT' },
      { account: 'suspense_out', amount: { r: 1 } },
      { account: 'receivable', amount: { r: -1, d: 1 } },
    ],
  },
  taken_by_bank: {
    symbol: 'J12',
    meaning: 'the bank took money back by itself (MED, bank return)',
    movement: 'out',
    postings: [
      { account: 'available', amount: { d: -1 }, shown: 'FORCED_DEBIT' },
      { account: 'settlement', amount: { r: 1 } },
      { account: 'receivable', amount: { r: -1, d: 1 } },
    ],
  },
  return_held: {
    symbol: 'J12h',
    meaning: 'money went back, and it is not known whether for a refund of ours; what is there of it is held',
    postings: [
      { account: 'available', amount: { h: -1 }, shown: 'REFUND_IN_RESERVE' },
      { account: 'reserved', amount: { h: 1 } },
      { account: 'settlement', amount: { p: 1 } },
      { account: 'suspense_out', amount: { p: -1 } },
    ],
  },
  return_known: {
    symbol: 'J12k',
    meaning: 'whose return it is became known: its hold and its suspense end, and it is booked as what it is',
    postings: [
      { account: 'available', amount: { h: 1 }, shown: 'REFUND_IN_RELEASE' },
      { account: 'reserved', amount: { h: -1 } },
      { account: 'settlement', amount: { p: -1 } },
      { account: 'suspense_out', amount: { p: 1 } },
    ],
  },
  tariff_deducted: {
    symbol: 'J13',
    meaning: 'the bank deducted a tariff of its own',
    postings: [
      { account: 'settlement', amount: { p: 1 } },
      { account: 'partner_fees', amount: { p: -1 } },
    ],
  },
  adjustment_credited: {
    symbol: 'JA',
    meaning: 'the operator added to the balance what came in at the bank: opening balance or top-up',
    postings: [
      { account: 'available', amount: { v: 1 }, shown: 'ADJUSTMENT' },
      { account: 'settlement', amount: { v: -1 } },
    ],
  },
  adjustment_debited: {
    symbol: 'JAd',
    meaning: 'the operator took from the balance what was withdrawn at the bank',
    postings: [
      { account: 'available', amount: { v: -1 }, shown: 'ADJUSTMENT' },
      { account: 'settlement', amount: { v: 1 } },
    ],
  },
  held_arrived: {
    symbol: 'JH',
    meaning: 'incoming money of the bank’s statement that nothing explains is held in suspense',
    postings: [
      { account: 'settlement', amount: { p: -1 } },
      { account: 'suspense_in', amount: { p: 1 } },
    ],
  },
  held_explained: {
    symbol: 'JHx',
    meaning: 'what was held is explained, and is booked as what it is',
    postings: [
      { account: 'suspense_in', amount: { p: -1 } },
      { account: 'settlement', amount: { p: 1 } },
    ],
  },
  held_credited: {
    symbol: 'JHc',
    meaning: 'an operator credited the merchant with incoming money that nothing explained',
    postings: [
      { account: 'suspense_in', amount: { p: -1 } },
      { account: 'available', amount: { p: 1 }, shown: 'ADJUSTMENT' },
    ],
  },
  debit_borne: {
    symbol: 'JB',
    meaning: 'the merchant bears outgoing money that nothing explained; what is not there is owed',
    movement: 'out',
    postings: [
      { account: 'settlement', amount: { v: 1 } },
      { account: 'available', amount: { d: -1 }, shown: 'FORCED_DEBIT' },
      { account: 'receivable', amount: { v: -1, d: 1 } },
    ],
  },
  debit_written_off: {
    symbol: 'JL',
    meaning: 'outgoing money that nothing explained is lost',
    movement: 'out',
    postings: [
      { account: 'settlement', amount: { v: 1 } },
      { account: 'losses', amount: { v: -1 } },
    ],
  },
  difference_borne: {
    symbol: 'JDb',
    meaning: 'the merchant bears what the bank has less than the books; what is not there is owed',
    postings: [
      { account: 'settlement', amount: { v: 1 } },
      { account: 'available', amount: { d: -1 }, shown: 'FORCED_DEBIT' },
      { account: 'receivable', amount: { v: -1, d: 1 } },
    ],
  },
  difference_gained: {
    symbol: 'JDg',
    meaning: 'what the bank has more than the books is a gain',
    postings: [
      { account: 'settlement', amount: { v: -1 } },
      { account: 'losses', amount: { v: 1 } },
    ],
  },
  difference_lost: {
    symbol: 'JDl',
    meaning: 'what the bank has less than the books is lost',
    postings: [
      { account: 'settlement', amount: { v: 1 } },
      { account: 'losses', amount: { v: -1 } },
    ],
  },
  credit_reversed: {
    symbol: 'J1r',
    meaning: 'an operator took a credit back that the bank does not have; what is not there is owed',
    postings: [
      { account: 'available', amount: { d: -1 }, shown: 'FORCED_DEBIT' },
      { account: 'fees', amount: { f: -1 } },
      { account: 'receivable', amount: { d: 1, f: 1, v: -1 } },
      { account: 'settlement', amount: { v: 1 } },
    ],
  },
} as const satisfies Readonly<Record<string, JournalTemplate>>

/** The kind of a journal. */
export type JournalKind = keyof typeof journals

const entryType = Type.Enum(['CREDIT', 'DEBIT'], {
  title: 'LedgerEntryType',
  description: 'Whether the available balance grew or shrank',
})
const entryOperation = Type.Enum([...entryOperations], {
  title: 'LedgerOperation',
  description: 'What kind of movement it is',
})

const ledgerEntry = Type.Object(
  {
    id: uuid,
    type: entryType,
    operation: entryOperation,
    amountCents: cents('Always positive; `type` tells the direction.'),
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
  description: 'Entries never change: what was booked in error is followed by another entry.',
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
    'Every movement of the available balance, with the balance after it, by cursor: no entry is lost or told twice.',
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
      start_date: Type.Optional(utcDay('First UTC day, inclusive')),
      end_date: Type.Optional(utcDay('Last UTC day, inclusive')),
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
