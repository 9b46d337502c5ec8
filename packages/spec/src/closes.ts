import { Type } from 'typebox'
import { endpoint } from './endpoint.ts'
import { journals, ledgerAccount } from './ledger.ts'
import { CURSOR, cents, cursorList, instant, nullable, pageLimit, utcDay, uuid } from './shapes.ts'

/** The daily close of America/Sao_Paulo, and the exports for a finance department. */

const DAY = '^[0-9]{4}-[0-9]{2}-[0-9]{2}$'

const day = Type.String({ pattern: DAY, minLength: 10, maxLength: 10, description: 'A day of America/Sao_Paulo' })

const hash = Type.String({
  pattern: '^[0-9a-f]{64}$',
  minLength: 64,
  maxLength: 64,
  description: 'SHA-256 of the stored close, as in the audit trail',
})

/** A close is known by its day. */
const ofClose = Type.Object({
  id: Type.String({ maxLength: 128, description: 'Id of the close', examples: ['2026-11-22'] }),
})

const count = Type.Integer({ minimum: 0, maximum: 2_147_483_647 })

const tally = Type.Object({ count, cents: cents() }, { title: 'CloseTally' })

const reservations = Type.Object(
  {
    count: Type.Integer({ minimum: 0, maximum: 2_147_483_647, description: 'Payouts and refunds that are not over' }),
    cents: cents('The balance of `reserved`: the merchant has it and `available`'),
  },
  { title: 'CloseReservations' },
)

const status = Type.Enum(['BALANCED', 'EXPLAINED', 'DIFFERS', 'UNCONFIRMED'], {
  title: 'CloseStatus',
  description:
    '`BALANCED`: the balance at the bank is that of our books. `EXPLAINED`: they differ, and open cases explain it. `DIFFERS`: a difference is unexplained. `UNCONFIRMED`: the balance at the bank is unknown.',
})

const NAME_MAX = 300

const head = {
  id: day,
  status,
  differenceCents: nullable(cents('The balance at the bank minus our books')),
  unexplainedCents: nullable(cents('The part of the difference that no open case explains')),
  bank: nullable(
    Type.Object({ closingCents: cents('The balance at the bank at the end of the day') }, { title: 'CloseBank' }),
  ),
  booksCents: cents('The balance at the bank by our books: `settlement` with its sign changed'),
  madeAt: instant,
  hash,
}

export const closeSummary = Type.Object(head, { title: 'CloseSummary' })

const close = Type.Object(
  {
    ...head,
    from: instant,
    to: instant,
    accounts: Type.Array(
      Type.Object({ account: ledgerAccount, openingCents: cents(), closingCents: cents() }, { title: 'CloseAccount' }),
      { maxItems: 50 },
    ),
    journals: Type.Array(
      Type.Object(
        {
          journal: Type.String({ maxLength: 100 }),
          meaning: nullable(Type.String()),
          count,
          accounts: Type.Array(Type.Object({ account: ledgerAccount, cents: cents() }, { title: 'CloseMovement' }), {
            maxItems: 50,
          }),
        },
        { title: 'CloseJournal' },
      ),
      { maxItems: 200 },
    ),
    reservations,
    timing: tally,
    kept: tally,
    explained: Type.Object(
      {
        count,
        cents: cents(),
        cases: Type.Array(
          Type.Object(
            {
              caseId: nullable(uuid),
              kind: Type.String({ maxLength: 100 }),
              reference: Type.String({ maxLength: NAME_MAX }),
              cents: cents(),
            },
            { title: 'CloseExplanation' },
          ),
          { maxItems: 100 },
        ),
      },
      { title: 'CloseExplained' },
    ),
    caseReference: nullable(Type.String({ maxLength: 40, description: 'Of the case `close_differs` about it' })),
    openCases: Type.Object(
      {
        count,
        cases: Type.Array(
          Type.Object(
            {
              id: uuid,
              kind: Type.String({ maxLength: 100 }),
              operationId: nullable(uuid),
              amountCents: nullable(cents()),
            },
            { title: 'CloseOpenCase' },
          ),
          { maxItems: 100 },
        ),
      },
      { title: 'CloseOpenCases' },
    ),
  },
  {
    title: 'Close',
    description:
      'A day of the books. Never rewritten: what is booked later is in the close of the day on which it was booked.',
  },
)

export const CLOSE_SUMMARY_EXAMPLE = {
  id: '2026-11-22',
  status: 'BALANCED',
  differenceCents: 0,
  unexplainedCents: 0,
  bank: { closingCents: 15000 },
  booksCents: 15000,
  madeAt: '2026-11-23T03:11:02.000Z',
  hash: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
} as const

const NOTHING = { count: 0, cents: 0 }

const CLOSE_EXAMPLE = {
  ...CLOSE_SUMMARY_EXAMPLE,
  from: '2026-11-22T03:00:00.000Z',
  to: '2026-11-23T03:00:00.000Z',
  accounts: [
    { account: 'available', openingCents: 0, closingCents: 15000 },
    { account: 'settlement', openingCents: 0, closingCents: -15000 },
  ],
  journals: [
    {
      journal: 'cash_in_paid',
      meaning: journals.cash_in_paid.meaning,
      count: 1,
      accounts: [
        { account: 'available', cents: 15000 },
        { account: 'settlement', cents: -15000 },
      ],
    },
  ],
  reservations: NOTHING,
  timing: NOTHING,
  kept: NOTHING,
  explained: { ...NOTHING, cases: [] },
  caseReference: null,
  openCases: { count: 0, cases: [] },
} as const

/** @source rules#close.8 */
export const listCloses = endpoint({
  id: 'listCloses',
  method: 'GET',
  path: '/operator/closes',
  auth: 'admin',
  role: 'viewer',
  tag: 'Operator',
  summary: 'List the daily closes, newest first',
  description: 'One close a day of America/Sao_Paulo, with its status and the difference that no open case explains.',
  query: Type.Object(
    {
      cursor: Type.Optional(
        Type.String({
          pattern: CURSOR,
          description: '`nextCursor` of the page before',
          examples: ['djE6MjAyNi0xMS0yMg'],
        }),
      ),
      limit: pageLimit,
    },
    { additionalProperties: false },
  ),
  responses: {
    200: {
      description: 'A page of closes',
      schema: cursorList(closeSummary, 'ClosePage'),
      example: { data: [CLOSE_SUMMARY_EXAMPLE], pagination: { limit: 20, hasMore: false, nextCursor: null } },
    },
  },
  errors: [],
})

/** @source rules#close.8 */
export const getClose = endpoint({
  id: 'getClose',
  method: 'GET',
  path: '/operator/closes/{id}',
  auth: 'admin',
  role: 'viewer',
  tag: 'Operator',
  summary: 'Read the close of a day',
  description:
    'Balances, movements by kind, the balance at the bank, and the open cases that explain a difference. An entry is of the day of America/Sao_Paulo on which we booked it.',
  params: ofClose,
  responses: { 200: { description: 'The close', schema: close, example: CLOSE_EXAMPLE } },
  errors: ['not_found'],
})

const dialect = Type.Optional(
  Type.Enum(['rfc4180', 'excel'], {
    description:
      '`rfc4180`: `,`, `1234.56`, UTF-8, texts as they are. `excel`: as Excel in Brazil reads it, `;`, `1234,56`, a byte order mark, and ids and formulas kept as text (`="0001234"`). Left out: `rfc4180`',
  }),
)

const csvFile = {
  200: {
    description: 'The file',
    contentType: 'text/csv; charset=utf-8',
    isStreamed: true,
    headers: ['Content-Disposition'],
    schema: Type.String({ title: 'StatementCsv' }),
    example:
      'Data,Hora,Tipo,Nome,Documento,Valor,Tarifa,Saldo,ID E2E,ID da devolução,ID externo,txid,Descrição,ID do lançamento\r\n2026-11-22,10:15:02,Pix recebido,Maria da Silva,***.456.789-**,150.00,-1.50,148.50,E9999901020261122131500aB3dE5fG7,,order-1001,5e3f9f0c8a7b4c6d9e0f1a2b3c4d5e6f,Order 1001,7f3c1c5e-8a2b-8d4e-8000-00000000002a\r\n',
  },
} as const

const CSV = `A line for each Pix and adjustment of the merchant's account, with its fee and the balance (available and reserved) after it. Reservations are no lines. Dates and times are of America/Sao_Paulo.`

/** @source rules#export.1, rules#export.2 */
export const exportCloseCsv = endpoint({
  id: 'exportCloseCsv',
  method: 'GET',
  path: '/operator/closes/{id}/csv',
  auth: 'admin',
  role: 'viewer',
  tag: 'Operator',
  summary: 'Export the day’s statement of the merchant’s account as CSV',
  description: CSV,
  params: ofClose,
  query: Type.Object({ dialect }, { additionalProperties: false }),
  responses: csvFile,
  errors: ['not_found', 'validation_error'],
})

/** @source rules#export.4, rules#export.5 */
export const exportCloseOfx = endpoint({
  id: 'exportCloseOfx',
  method: 'GET',
  path: '/operator/closes/{id}/ofx',
  auth: 'admin',
  role: 'viewer',
  tag: 'Operator',
  summary: 'Export the day’s statement of the merchant’s account as OFX',
  description:
    'OFX 1.0.2 in Windows-1252: a transaction for each Pix, and one for its fee. The id of a transaction is that of its ledger entry, and never changes. Days are of America/Sao_Paulo.',
  params: ofClose,
  responses: {
    200: {
      description: 'The file',
      contentType: 'application/x-ofx',
      isStreamed: true,
      headers: ['Content-Disposition'],
      schema: Type.String({ title: 'CloseOfx' }),
      example: 'OFXHEADER:100\r\nDATA:OFXSGML\r\nVERSION:102\r\n',
    },
  },
  errors: ['not_found'],
})

/** @source rules#export.1, rules#export.3 */
export const exportStatement = endpoint({
  id: 'exportStatement',
  method: 'GET',
  path: '/operator/statement',
  auth: 'admin',
  role: 'viewer',
  tag: 'Operator',
  summary: 'Export the statement of a period as CSV',
  description: `${CSV} At most a year at once.`,
  query: Type.Object(
    {
      from: Type.Optional({
        ...utcDay(''),
        description: 'First day of America/Sao_Paulo, inclusive; default: the first of the month of `to`',
        examples: ['2026-11-01'],
      }),
      to: Type.Optional({
        ...utcDay(''),
        description: 'Last day of America/Sao_Paulo, inclusive; default: that of `from`, or today',
        examples: ['2026-11-30'],
      }),
      dialect,
    },
    { additionalProperties: false },
  ),
  responses: csvFile,
  errors: ['validation_error'],
})
