import type { CashInStatus, CashOutStatus, Cents, End, LedgerOperation, Pixgate, RefundInStatus } from '@pixgate/sdk'
import { type Command, type Context, LIMIT, type Option } from '../command.ts'
import { Failure, usageError } from '../failure.ts'
import type { Input } from '../input.ts'
import { firstOf } from '../reading.ts'

const VALUE: Option = { kind: 'text', value: 'REAIS', says: 'amount in reais, such as 150.00', isRequired: true }
const EXTERNAL_ID: Option = {
  kind: 'text',
  value: 'TEXT',
  says: 'your reference; the same one never makes two',
  isRequired: true,
}
const WAIT: Option = { kind: 'flag', says: 'wait up to a minute for the end; an end that stays open is exit code 6' }
const FILTERS: Readonly<Record<string, Option>> = {
  status: { kind: 'text', value: 'STATUS', says: 'only with this status' },
  'external-id': { kind: 'text', value: 'TEXT', says: 'only with your reference' },
  from: { kind: 'text', value: 'DAY', says: 'created on this day or later' },
  to: { kind: 'text', value: 'DAY', says: 'created on this day or earlier' },
  ...LIMIT,
}

const CHARGE = ['id', 'status', 'valueCents', 'externalId', 'pixCode', 'payerName', 'paidAt', 'failureReason'] as const
const PAYOUT = ['id', 'status', 'valueCents', 'externalId', 'recipient.name', 'endToEndId', 'failureReason'] as const
const REFUND = ['id', 'status', 'valueCents', 'externalId', 'cashInId', 'returnId', 'failureReason'] as const
const LISTED = ['id', 'status', 'valueCents', 'externalId'] as const

const amount = (input: Input, option = 'value') => input.amountCents(option) as Cents

const filtersOf = (input: Input) => ({
  external_id: input.text('external-id'),
  start_date: input.text('from'),
  end_date: input.text('to'),
  limit: Math.min(100, input.limit),
})

/** Shows an operation, after its end if that is wanted. */
async function showEnd<Operation extends { readonly id: string }>(
  { out, signal }: Context,
  input: Input,
  operation: Operation,
  fields: readonly string[],
  kind: 'charge' | 'payout' | 'refund',
  waitForEnd: (id: string, options: { readonly signal: AbortSignal }) => Promise<End<object>>,
): Promise<void> {
  if (!input.flag('wait')) return out.show(operation, fields)
  const { outcome, operation: end } = await waitForEnd(operation.id, { signal })
  out.show(end, fields)
  const command = `pixgate ${kind} get ${operation.id}`
  if (outcome === 'open') throw new Failure('it has not ended yet', { exit: 'outcomeUnknown', code: 'open', command })
  if (outcome === 'failed') throw new Failure('it failed', { exit: 'refused', code: 'failed' })
}

const findsBy = (kind: string) => (input: Input) => `${kind} list --external-id ${quoted(input.needed('external-id'))}`

/** Quotes an argument for a shell. */
function quoted(text: string): string {
  return /^[\w.:@%+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}

const chargeCommands: readonly Command[] = [
  {
    name: 'charge create',
    says: 'create a charge; its pixCode is what the payer pays',
    options: {
      value: VALUE,
      'external-id': EXTERNAL_ID,
      description: { kind: 'text', value: 'TEXT', says: 'the payer sees it' },
      'expires-in': { kind: 'text', value: 'SECONDS', says: 'how long it can be paid' },
      'payer-name': { kind: 'text', value: 'NAME', says: 'name of the payer, with the document' },
      'payer-document': { kind: 'text', value: 'DIGITS', says: 'CPF or CNPJ of the payer' },
      wait: WAIT,
    },
    examples: [
      'pixgate charge create --value 150.00 --external-id order-1001',
      'pixgate charge create --value 80.00 --external-id order-1002 --description "bank:pay" --wait --json',
    ],
    moves: 'merchant',
    finds: findsBy('charge'),
    run: async (input, context) => {
      const { cashIns } = await context.merchant()
      const [fullName, document] = [input.text('payer-name'), input.text('payer-document')]
      if ((fullName === undefined) !== (document === undefined))
        throw usageError('--payer-name and --payer-document belong together')
      const params = {
        externalId: input.needed('external-id'),
        value: amount(input),
        description: input.text('description'),
        expirationTime: input.text('expires-in') === undefined ? undefined : input.number('expires-in', 0),
        ...(fullName !== undefined && document !== undefined && { payer: { fullName, document } }),
      }
      const charge = await cashIns.create(params, { signal: context.signal })
      await showEnd(context, input, charge, CHARGE, 'charge', (id, rest) => cashIns.waitForEnd(id, rest))
    },
  },
  {
    name: 'charge get',
    says: 'read a charge',
    arguments: [{ name: 'ID', says: 'id of the charge' }],
    examples: ['pixgate charge get $CHARGE'],
    run: async (input, { merchant, out }) => out.show(await (await merchant()).cashIns.get(input.word(0)), CHARGE),
  },
  {
    name: 'charge list',
    says: 'list charges, newest first',
    options: FILTERS,
    examples: ['pixgate charge list --status PAID --limit 5', 'pixgate charge list --external-id order-1001 --json'],
    run: async (input, { merchant, out }) => {
      const list = (await merchant()).cashIns.list({
        ...filtersOf(input),
        status: input.text('status') as CashInStatus,
      })
      out.show(await firstOf(list, input.limit), [...LISTED, 'paidAt'])
    },
  },
]

const payoutCommands: readonly Command[] = [
  {
    name: 'payout create',
    says: 'send money to a Pix key, or pay a Pix code',
    options: {
      value: { kind: 'text', value: 'REAIS', says: 'amount in reais, such as 30.00; a code may have its own' },
      'external-id': EXTERNAL_ID,
      key: { kind: 'text', value: 'KEY', says: 'Pix key of the recipient' },
      'key-type': { kind: 'text', value: 'TYPE', says: 'cpf, cnpj, email, phone or evp' },
      code: { kind: 'text', value: 'CODE', says: 'a Pix code instead of a key' },
      description: { kind: 'text', value: 'TEXT', says: 'the recipient sees it' },
      wait: WAIT,
    },
    examples: [
      'pixgate payout create --value 30.00 --external-id payroll-12-ana --key ana@example.com --key-type email --wait',
      'pixgate payout create --value 5.00 --external-id invoice-77 --code $CODE',
    ],
    moves: 'merchant',
    finds: findsBy('payout'),
    run: async (input, context) => {
      const { cashOuts } = await context.merchant()
      const [pixKey, pixKeyType, pixCode] = ['key', 'key-type', 'code'].map((option) => input.text(option))
      const [externalId, description] = [input.needed('external-id'), input.text('description')]
      const value = amount(input)
      const common = { externalId, description, ...(value !== undefined && { value }) }
      if ((pixCode === undefined) === (pixKey === undefined))
        throw usageError('one of --key and --code is needed', 'Give --key with --key-type, or --code.')
      if (pixKey !== undefined && pixKeyType === undefined) throw usageError('--key-type is missing')
      if (pixKey !== undefined && value === undefined) throw usageError('--value is missing')
      const payout =
        pixCode === undefined
          ? cashOuts.create(
              { ...common, value, recipient: { pixKey: pixKey ?? '', pixKeyType: pixKeyType ?? '' } },
              { signal: context.signal },
            )
          : cashOuts.createFromQrCode({ ...common, pixCode }, { signal: context.signal })
      await showEnd(context, input, await payout, PAYOUT, 'payout', (id, rest) => cashOuts.waitForEnd(id, rest))
    },
  },
  {
    name: 'payout get',
    says: 'read a payout',
    arguments: [{ name: 'ID', says: 'id of the payout' }],
    examples: ['pixgate payout get $PAYOUT --json'],
    run: async (input, { merchant, out }) => out.show(await (await merchant()).cashOuts.get(input.word(0)), PAYOUT),
  },
  {
    name: 'payout list',
    says: 'list payouts, newest first',
    options: FILTERS,
    examples: ['pixgate payout list --external-id payroll-12-ana'],
    run: async (input, { merchant, out }) => {
      const query = { ...filtersOf(input), status: input.text('status') as CashOutStatus }
      out.show(await firstOf((await merchant()).cashOuts.list(query), input.limit), [...LISTED, 'confirmedAt'])
    },
  },
]

const refundCommands: readonly Command[] = [
  {
    name: 'refund create',
    says: 'give back a paid charge, or part of it',
    arguments: [{ name: 'CHARGE', says: 'id of the charge' }],
    options: {
      value: VALUE,
      'external-id': EXTERNAL_ID,
      reason: { kind: 'text', value: 'TEXT', says: 'why' },
      wait: WAIT,
    },
    examples: ['pixgate refund create $CHARGE --value 50.00 --external-id refund-3001 --wait'],
    moves: 'merchant',
    finds: findsBy('refund'),
    run: async (input, context) => {
      const { refunds } = await context.merchant()
      const params = {
        externalId: input.needed('external-id'),
        refundValue: amount(input),
        reason: input.text('reason'),
      }
      const refund = await refunds.create(input.word(0), params, { signal: context.signal })
      await showEnd(context, input, refund, REFUND, 'refund', (id, rest) => refunds.waitForEnd(id, rest))
    },
  },
  {
    name: 'refund get',
    says: 'read a refund',
    arguments: [{ name: 'ID', says: 'id of the refund' }],
    examples: ['pixgate refund get $REFUND'],
    run: async (input, { merchant, out }) => out.show(await (await merchant()).refunds.get(input.word(0)), REFUND),
  },
  {
    name: 'refund list',
    says: 'list refunds, newest first',
    options: { ...FILTERS, charge: { kind: 'text', value: 'ID', says: 'only of this charge' } },
    examples: ['pixgate refund list --charge $CHARGE --json'],
    run: async (input, { merchant, out }) => {
      const query = {
        ...filtersOf(input),
        status: input.text('status') as RefundInStatus,
        cash_in_id: input.text('charge'),
      }
      out.show(await firstOf((await merchant()).refunds.list(query), input.limit), [...LISTED, 'cashInId'])
    },
  },
]

const bookCommands: readonly Command[] = [
  {
    name: 'balance',
    says: 'show what is available, reserved and receivable',
    examples: ['pixgate balance', 'pixgate balance --json'],
    run: async (_, { merchant, out }) => {
      const [balance] = await (await merchant()).balance.get()
      out.show(balance ?? {}, ['amount', 'code', 'reservedCents', 'receivableCents'])
    },
  },
  {
    name: 'ledger',
    says: 'list entries of the available balance, newest first',
    options: {
      operation: { kind: 'text', value: 'KIND', says: 'only entries of this kind of operation' },
      reference: { kind: 'text', value: 'ID', says: 'only entries of this operation' },
      from: { kind: 'text', value: 'DAY', says: 'on this day or later' },
      to: { kind: 'text', value: 'DAY', says: 'on this day or earlier' },
      ...LIMIT,
    },
    examples: ['pixgate ledger --limit 5', 'pixgate ledger --reference $CHARGE --json'],
    run: async (input, { merchant, out }) => {
      const list = (await merchant()).ledger.list({
        operation: input.text('operation') as LedgerOperation,
        reference_id: input.text('reference'),
        start_date: input.text('from'),
        end_date: input.text('to'),
        limit: Math.min(100, input.limit),
      })
      const fields = ['createdAt', 'type', 'operation', 'amountCents', 'balanceAfterCents', 'externalId']
      out.show(await firstOf(list, input.limit), fields)
    },
  },
  {
    name: 'closes',
    says: 'list daily closes, newest first, or show that of a day (for operators)',
    arguments: [{ name: 'DAY', says: 'such as 2026-11-22', isOptional: true }],
    options: LIMIT,
    examples: ['pixgate closes', 'pixgate closes $DAY --json'],
    run: async (input, { operator, out }) => {
      const { closes } = await operator()
      const fields = ['id', 'status', 'booksCents', 'differenceCents', 'unexplainedCents', 'madeAt']
      const day = input.optionalWord(0)
      if (day) out.show(await closes.get(day), fields)
      else out.show(await firstOf(closes.list(), input.limit), fields)
    },
  },
  {
    name: 'find',
    says: 'find operations by any text on them: an id, your reference, an end-to-end id; operators also by name, key or amount',
    arguments: [{ name: 'TEXT', says: 'what to look for' }],
    examples: ['pixgate find order-1001', 'pixgate find $CHARGE --json'],
    run: async (input, { settings, merchant, operator, out }) => {
      const text = input.word(0)
      const found = settings.adminToken
        ? (await (await operator()).operations.search({ q: text })).data.map(({ match, operation }) => ({
            match,
            ...operation,
          }))
        : await findAsMerchant(await merchant(), text)
      if (found.length === 0) throw new Failure('nothing was found', { exit: 'notFound', code: 'not_found' })
      out.show(found, ['match', 'kind', 'id', 'status', 'valueCents', 'externalId'])
    },
  },
]

/** Searches by what an API key can read: ids, and the filters of the lists. */
async function findAsMerchant(pixgate: Pixgate, text: string): Promise<object[]> {
  const { cashIns, cashOuts, refunds } = pixgate
  const kinds = { cash_in: cashIns, cash_out: cashOuts, refund_in: refunds } as const
  const isId = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i.test(text)
  const match = isId ? 'id' : /^[ED]\d{8}\w{23}$/.test(text) ? 'end_to_end_id' : 'external_id'
  const found = await Promise.all(
    Object.entries(kinds).map(async ([kind, methods]) => {
      const operations = isId
        ? await methods.get(text).then(
            (operation) => [operation],
            (error) => (error.code === 'not_found' ? [] : Promise.reject(error)),
          )
        : (await methods.list({ [match]: text }).page()).data
      return operations.map((operation) => ({ match, kind, ...operation }))
    }),
  )
  return found.flat()
}

export const moneyCommands: readonly Command[] = [
  ...chargeCommands,
  ...payoutCommands,
  ...refundCommands,
  ...bookCommands,
]
