import type { ApiKeyScope, CaseDecision, CaseState, Cents, OperatorRole } from '@pixgate/sdk'
import { type Command, LIMIT, type Option } from '../command.ts'
import { usageError } from '../failure.ts'
import { firstOf, instantOf } from '../reading.ts'
import { saveProfile } from '../settings.ts'

const REASON: Option = { kind: 'text', value: 'TEXT', says: 'why, for the audit trail', isRequired: true }
const CASE = { name: 'ID', says: 'id of the case' } as const

const caseCommands: readonly Command[] = [
  {
    name: 'cases list',
    says: 'list cases that wait for a decision, newest first',
    options: {
      state: { kind: 'text', value: 'STATE', says: 'open (the default) or closed' },
      operation: { kind: 'text', value: 'ID', says: 'only of this operation' },
      ...LIMIT,
    },
    examples: ['pixgate cases list', 'pixgate cases list --state closed --json'],
    run: async (input, { operator, out }) => {
      const list = (await operator()).cases.list({
        state: (input.text('state') ?? 'open') as CaseState,
        operation_id: input.text('operation'),
      })
      const fields = ['id', 'kind', 'amountCents', 'operation.id', 'openedAt', 'meaning']
      out.show(await firstOf(list, input.limit), fields)
    },
  },
  {
    name: 'cases get',
    says: 'read a case, and which decisions it takes',
    arguments: [CASE],
    examples: ['pixgate cases get $CASE --json'],
    run: async (input, { operator, out }) => {
      const found = await (await operator()).cases.get(input.word(0))
      if (out.isJson) return out.show(found)
      out.show(found, ['id', 'kind', 'state', 'amountCents', 'operation.id', 'openedAt', 'meaning', 'version'])
      out.show(found.options)
    },
  },
  {
    name: 'cases decide',
    says: 'decide a case as it is now',
    more: ['With --dry-run it says what would be booked. A decision on much money waits for a second person.'],
    arguments: [CASE, { name: 'DECISION', says: 'as cases get lists them, such as return_to_payer' }],
    options: {
      reason: REASON,
      amount: { kind: 'text', value: 'REAIS', says: 'part of the money, where it can be split' },
      operation: { kind: 'text', value: 'ID', says: 'the operation that the money belongs to' },
      'end-to-end-id': { kind: 'text', value: 'ID', says: 'evidence of the bank' },
      'return-id': { kind: 'text', value: 'ID', says: 'evidence of the bank' },
      reference: { kind: 'text', value: 'TEXT', says: 'evidence: the reference of the bank' },
      'dry-run': { kind: 'flag', says: 'change nothing' },
    },
    examples: ['pixgate cases decide $CASE return_to_payer --amount 10.00 --reason "Paid twice" --dry-run --json'],
    moves: 'operator',
    finds: (input) => `cases get ${input.word(0)}`,
    run: async (input, { operator, out }) => {
      const { cases } = await operator()
      const { version } = await cases.get(input.word(0))
      const [endToEndId, returnId, reference] = ['end-to-end-id', 'return-id', 'reference'].map((name) =>
        input.text(name),
      )
      const hasEvidence = [endToEndId, returnId, reference].some((text) => text !== undefined)
      const decided = await cases.decide(input.word(0), {
        decision: input.word(1) as CaseDecision,
        reason: input.needed('reason'),
        version,
        amountCents: input.amountCents('amount') as Cents | undefined,
        operationId: input.text('operation'),
        ...(hasEvidence && { evidence: { endToEndId, returnId, reference } }),
        ...(input.flag('dry-run') && { dryRun: true }),
      })
      out.show(decided, ['outcome', 'decision', 'proposalId', 'refundId', 'needsSecondPerson', 'whySecondPerson'])
    },
  },
  ...(['approve', 'reject'] as const).map(
    (act): Command => ({
      name: `cases ${act}`,
      says: `${act} the decision that another person proposed`,
      arguments: [CASE, { name: 'PROPOSAL', says: 'id of the proposal' }],
      options: { reason: REASON },
      examples: [`pixgate cases ${act} $CASE $PROPOSAL --reason "Seen in the statement"`],
      moves: 'operator',
      finds: (input) => `cases get ${input.word(0)}`,
      run: async (input, { operator, out }) => {
        const answer = { approved: act === 'approve', reason: input.needed('reason') }
        const decided = await (await operator()).cases.decideProposal(input.word(0), input.word(1), answer)
        out.show(decided, ['outcome', 'decision', 'proposalId', 'refundId'])
      },
    }),
  ),
  {
    name: 'cases note',
    says: 'add a note to a case',
    arguments: [CASE, { name: 'TEXT', says: 'the note' }],
    examples: ['pixgate cases note $CASE "Asked the bank, ticket 4711"'],
    run: async (input, { operator, out }) =>
      out.show(await (await operator()).cases.note(input.word(0), { text: input.word(1) })),
  },
]

const SAVE: Option = {
  kind: 'text',
  value: 'PROFILE',
  says: 'keep the secret in this profile instead of printing it',
}

const accessCommands: readonly Command[] = [
  {
    name: 'keys list',
    says: 'list API keys',
    options: LIMIT,
    examples: ['pixgate keys list --json'],
    run: async (input, { operator, out }) =>
      out.show(await firstOf((await operator()).apiKeys.list(), input.limit), [
        'id',
        'name',
        'display',
        'scopes',
        'lastUsedAt',
        'deactivatedAt',
      ]),
  },
  {
    name: 'keys create',
    says: 'create an API key; it is shown this once',
    options: {
      name: { kind: 'text', value: 'TEXT', says: 'who uses it', isRequired: true },
      scopes: { kind: 'text', value: 'LIST', says: 'of read, charge, payout, refund and webhook; all of them' },
      expires: { kind: 'text', value: 'INSTANT', says: 'when it ends' },
      save: SAVE,
    },
    examples: [
      'pixgate keys create --name shop --scopes read,charge --json',
      'pixgate keys create --name till --save till',
    ],
    run: async (input, { operator, out, settings, surroundings }) => {
      const scopes = input.text('scopes')?.split(',') as ApiKeyScope[] | undefined
      const expires = input.text('expires')
      const created = await (await operator()).apiKeys.create({
        name: input.needed('name'),
        ...(scopes && { scopes }),
        ...(expires && { expiresAt: instantOf(expires, 'expires') }),
      })
      const profile = input.text('save')
      if (profile === undefined) return out.show(created)
      const path = saveProfile(surroundings, profile, { url: settings.url, apiKey: created.apiKey })
      out.show({ profile, path, createdAt: created.createdAt })
    },
  },
  {
    name: 'keys revoke',
    says: 'deactivate an API key at once',
    arguments: [{ name: 'ID', says: 'id of the key' }],
    examples: ['pixgate keys revoke $KEY'],
    run: async (input, { operator, out }) => {
      await (await operator()).apiKeys.deactivate(input.word(0))
      out.show({ id: input.word(0), deactivated: true })
    },
  },
  {
    name: 'operators list',
    says: 'list operators and their roles',
    options: LIMIT,
    examples: ['pixgate operators list --json'],
    run: async (input, { operator, out }) =>
      out.show(await firstOf((await operator()).operators.list(), input.limit), [
        'id',
        'name',
        'role',
        'lastUsedAt',
        'deactivatedAt',
      ]),
  },
  {
    name: 'operators create',
    says: 'create an operator; the token is shown this once',
    options: {
      name: { kind: 'text', value: 'TEXT', says: 'of the person', isRequired: true },
      role: { kind: 'text', value: 'ROLE', says: 'viewer, operator, approver or admin', isRequired: true },
      save: SAVE,
    },
    examples: ['pixgate operators create --name Caio --role viewer --json'],
    run: async (input, { operator, out, settings, surroundings }) => {
      const order = { name: input.needed('name'), role: input.needed('role') as OperatorRole }
      const { token, ...created } = await (await operator()).operators.create(order)
      const profile = input.text('save')
      if (profile === undefined) return out.show({ ...created, token })
      const { url, operatorUrl } = settings
      const path = saveProfile(surroundings, profile, { url, operatorUrl, adminToken: token })
      out.show({ ...created, profile, path })
    },
  },
  {
    name: 'operators deactivate',
    says: 'deactivate an operator at once',
    arguments: [{ name: 'ID', says: 'id of the operator' }],
    examples: ['pixgate operators deactivate $OPERATOR'],
    run: async (input, { operator, out }) => {
      await (await operator()).operators.deactivate(input.word(0))
      out.show({ id: input.word(0), deactivated: true })
    },
  },
]

const SWITCH = ['enabled', 'reason', 'changedAt', 'version'] as const

const switchCommands: readonly Command[] = [
  {
    name: 'switch',
    says: 'show whether payouts and refunds are suspended',
    examples: ['pixgate switch'],
    run: async (_, { operator, out }) => out.show(await (await operator()).cashOutSwitch.get(), SWITCH),
  },
  {
    name: 'switch off',
    says: 'suspend payouts and refunds at once',
    arguments: [{ name: 'REASON', says: 'why, for the audit trail' }],
    examples: ['pixgate switch off "Incident 42" --json'],
    finds: () => 'switch',
    run: async (input, { operator, out }) => {
      const reason = input.word(0).trim()
      if (!reason) throw usageError('REASON is empty')
      out.show(await (await operator()).cashOutSwitch.set({ enabled: false, reason }), SWITCH)
    },
  },
  {
    name: 'switch on',
    says: 'resume payouts and refunds',
    arguments: [{ name: 'REASON', says: 'why, for the audit trail' }],
    examples: ['pixgate switch on "Incident 42 is over"'],
    moves: 'operator',
    finds: () => 'switch',
    run: async (input, { operator, out }) =>
      out.show(await (await operator()).cashOutSwitch.set({ enabled: true, reason: input.word(0) }), SWITCH),
  },
]

export const operatorCommands: readonly Command[] = [...caseCommands, ...accessCommands, ...switchCommands]
