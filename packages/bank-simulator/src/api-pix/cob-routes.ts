import { limits, type PartnerChargeRequest } from '@pixgate/spec'
import type { FastifyInstance } from 'fastify'
import { type Static, Type } from 'typebox'
import { MERCHANT } from '../account-holders.ts'
import type { ChargeDetails } from '../facts.ts'
import { behaviorFor, executeInstruction } from '../instructions.ts'
import type { Charge } from '../operations.ts'
import { type Account, chargeOf } from './account.ts'
import { type Cob, type CobTerms, cobOf, cobWithPix, lifeSeconds } from './cob.ts'
import type { Conventions } from './conventions.ts'
import { cobAnswer } from './false-responses.ts'
import { DOCUMENT_FILTERS, isOfDocument, isPresentAs, pageOf, type Query, readList } from './lists.ts'
import { EfiError, Problem, type Violation } from './problems.ts'
import { AMOUNT, centsOf } from './values.ts'

const TXID = /^[a-zA-Z0-9]{26,35}$/

const calendario = Type.Object({ expiracao: Type.Optional(Type.Integer({ minimum: 1, maximum: 2_147_483_647 })) })

const devedor = Type.Object({
  cpf: Type.Optional(Type.String({ pattern: '^\\d{11}$' })),
  cnpj: Type.Optional(Type.String({ pattern: '^[0-9A-Z]{14}$' })),
  nome: Type.String({ minLength: 1, maxLength: limits.nameMaxLength }),
})

const valor = Type.Object({
  original: Type.String({ pattern: AMOUNT }),
  modalidadeAlteracao: Type.Optional(Type.Integer({ minimum: 0, maximum: 1 })),
  // Pix Saque and Pix Troco are not supported.
  retirada: Type.Optional(Type.Null()),
})

const chave = Type.String({ minLength: 1, maxLength: limits.pixKeyMaxLength })

const optionalParts = {
  devedor: Type.Optional(devedor),
  loc: Type.Optional(Type.Object({ id: Type.Integer() })),
  solicitacaoPagador: Type.Optional(Type.String({ maxLength: 140 })),
  infoAdicionais: Type.Optional(
    Type.Array(Type.Object({ nome: Type.String({ maxLength: 50 }), valor: Type.String({ maxLength: 200 }) }), {
      maxItems: 50,
    }),
  ),
}

const cobSolicitada = Type.Object({ calendario, valor, chave, ...optionalParts })

const cobRevisada = Type.Object({
  calendario: Type.Optional(calendario),
  valor: Type.Optional(Type.Partial(valor)),
  chave: Type.Optional(chave),
  status: Type.Optional(Type.Literal('REMOVIDA_PELO_USUARIO_RECEBEDOR')),
  ...optionalParts,
})

type CobRevisada = Static<typeof cobRevisada>

/** Default lifetime of a charge. @source BCB, API Pix (CobExpiracao) */
const LIFE_SECONDS = 86_400

const CITY = 'São Paulo'

const changing: Conventions = {
  scope: 'cob.write',
  invalid: 'CobOperacaoInvalida',
  entity: 'cob',
  refusals: { not_found: 'CobNaoEncontrado' },
}

const reading: Conventions = {
  scope: 'cob.read',
  invalid: 'CobConsultaInvalida',
  entity: 'cob',
  refusals: { not_found: 'CobNaoEncontrado' },
}

/** Adds the routes of charges for immediate payment. @source BCB, API Pix (Cob) */
export function cobRoutes(app: FastifyInstance, account: Account): void {
  const { bank } = account
  app.put<{ Params: { txid: string }; Body: Static<typeof cobSolicitada> }>(
    '/v2/cob/:txid',
    { schema: { body: cobSolicitada }, config: { conventions: changing } },
    ({ params: { txid }, body }, reply) => {
      if (!TXID.test(txid)) throw invalid([violation('txid')])
      return executeInstruction(bank, reply, {
        behavior: behaviorFor(body.solicitacaoPagador, bank.switchboard.behavior.cashIn),
        isKnown: chargeOf(bank, txid) !== undefined,
        refusal: 'charge_refused',
        things: 'charges',
        execute: () => putCob(account, txid, body),
        answer: () => {
          reply.code(201)
          return answerOf(account, cobOf(known(account, txid)))
        },
      })
    },
  )
  app.post<{ Body: Static<typeof cobSolicitada> }>(
    '/v2/cob',
    { schema: { body: cobSolicitada }, config: { conventions: changing } },
    ({ body }, reply) => {
      const txid = bank.chance.transactionId()
      return executeInstruction(bank, reply, {
        behavior: behaviorFor(body.solicitacaoPagador, bank.switchboard.behavior.cashIn),
        isKnown: false,
        refusal: 'charge_refused',
        things: 'charges',
        execute: () => putCob(account, txid, body),
        answer: () => {
          reply.code(201)
          return answerOf(account, cobOf(known(account, txid)))
        },
      })
    },
  )
  app.patch<{ Params: { txid: string }; Body: CobRevisada }>(
    '/v2/cob/:txid',
    { schema: { body: cobRevisada }, config: { conventions: changing } },
    async ({ params: { txid }, body }) => {
      bank.liar.throwIfTold('unavailable')
      patchCob(account, known(account, txid), body)
      bank.liar.throwIfTold('errorAfterExecuting')
      return answerOf(account, cobOf(known(account, txid)))
    },
  )
  readRoutes(app, account)
}

function readRoutes(app: FastifyInstance, account: Account): void {
  const { book, liar } = account.bank
  app.get<{ Params: { txid: string }; Querystring: Query }>(
    '/v2/cob/:txid',
    { config: { conventions: reading } },
    async ({ params: { txid }, query }) => {
      liar.throwIfTold('unavailable')
      const charge = known(account, txid)
      const revision = revisionIn(query, charge)
      liar.throwNotFoundIfTold(txid)
      return answerOf(account, cobWithPix(book, charge, revision))
    },
  )
  app.get<{ Querystring: Query }>('/v2/cob', { config: { conventions: reading } }, async ({ query }) => {
    liar.throwIfTold('unavailable')
    const filters = { ...DOCUMENT_FILTERS, locationPresente: 'boolean', status: /^[A-Z_]{1,40}$/ } as const
    const list = readList(query, 'CobConsultaInvalida', filters)
    const { from, to, parametros } = list
    const found = [...book.charges.values()]
      .filter(
        ({ createdAt, terms }) =>
          from <= createdAt && createdAt <= to && isOfDocument(parametros, terms.payer?.document),
      )
      .map((charge) => cobWithPix(book, charge))
      .filter(({ status }) => parametros.status === undefined || parametros.status === status)
      .filter(() => isPresentAs(parametros.locationPresente, true))
    const { items, parametros: answered } = pageOf(found, list)
    // The standard requires `idCob` in lists but does not define it.
    return { parametros: answered, cobs: items.map((cob) => ({ ...cob, idCob: cob.loc.id })) }
  })
}

/** Creates a charge, or revises the one with this txid. @source rules#sandbox.14 */
function putCob(account: Account, txid: string, body: Static<typeof cobSolicitada>): void {
  const { charges, chargeSettler, clock, liar } = account.bank
  const existing = chargeOf(account.bank, txid)
  if (existing && liar.tells('repeatRefused')) {
    throw new EfiError(409, 'txid_duplicado', 'Campo txid informado já foi utilizado em outra cobrança')
  }
  assertSemantics(account, body, existing)
  const at = existing?.createdAt ?? clock.now()
  const [terms, details] = [termsOf(body, at), detailsOf(body)]
  if (existing) charges.revise(existing.id, terms, details)
  else {
    charges.create(txid, terms, { transactionId: txid, at, details })
    chargeSettler.settle(txid)
  }
}

const REMOVED_WITH_CHANGES =
  'A cobrança está ATIVA, e a presente requisição propõe alterar seu status para REMOVIDA_PELO_USUARIO_RECEBEDOR juntamente com outras alterações.'

function patchCob(account: Account, charge: Charge, body: CobRevisada): void {
  const { charges } = account.bank
  assertSemantics(account, body, charge)
  const { status, ...changes } = body
  if (charge.status !== 'ACTIVE')
    throw invalid([violation('cob.status', 'A cobrança não está ATIVA, e a presente requisição busca alterá-la.')])
  if (status === undefined) {
    const body = patched(charge, changes)
    charges.revise(charge.id, termsOf(body, charge.createdAt), detailsOf(body))
    return
  }
  if (Object.keys(changes).length > 0) {
    throw invalid([violation('cob.status', REMOVED_WITH_CHANGES)])
  }
  charges.cancel(charge.id)
}

/** Merges changes into the current terms of a charge. */
function patched(charge: Charge, changes: Omit<CobRevisada, 'status'>): CobAsked {
  const now = cobOf(charge)
  return {
    ...now,
    ...changes,
    calendario: { expiracao: changes.calendario?.expiracao ?? lifeSeconds(charge) },
    valor: { ...now.valor, ...changes.valor },
  }
}

/** Complete terms of a charge. */
interface CobAsked {
  readonly calendario: { readonly expiracao?: number | undefined }
  readonly devedor?: CobTerms['devedor'] | Static<typeof devedor> | undefined
  readonly valor: { readonly original: string; readonly modalidadeAlteracao?: number | undefined }
  readonly chave: string
  readonly solicitacaoPagador?: string | undefined
  readonly infoAdicionais?: ChargeDetails['infoAdicionais'] | undefined
}

function termsOf(body: CobAsked, createdAt: number): PartnerChargeRequest {
  const { calendario, devedor, valor, chave: pixKey, solicitacaoPagador: description } = body
  const expiresAt = new Date(createdAt + (calendario.expiracao ?? LIFE_SECONDS) * 1_000).toISOString()
  const payer = devedor && { name: devedor.nome, document: devedor.cpf ?? devedor.cnpj ?? '' }
  return {
    valueCents: centsOf(valor.original),
    expiresAt,
    ...(description !== undefined && { description }),
    ...(payer && { payer }),
    merchant: { pixKey, name: MERCHANT.name, city: CITY },
  }
}

function detailsOf({ infoAdicionais, valor: { modalidadeAlteracao } }: CobAsked): ChargeDetails {
  return {
    ...(infoAdicionais && { infoAdicionais: infoAdicionais.map(({ nome, valor }) => ({ nome, valor })) }),
    ...(modalidadeAlteracao !== undefined && { modalidadeAlteracao }),
  }
}

/** Validates the rules that the schema cannot express. @throws Problem @source BCB, API Pix (CobOperacaoInvalida) */
function assertSemantics({ bank, keys }: Account, body: CobRevisada, charge: Charge | undefined): void {
  const { valor, devedor, chave, loc } = body
  const faults = [
    ...(valor?.original !== undefined && centsOf(valor.original) === 0
      ? [violation('cob.valor.original', 'O campo cob.valor.original é zero.')]
      : []),
    ...(devedor && (devedor.cpf === undefined) === (devedor.cnpj === undefined) ? [violation('cob.devedor')] : []),
    ...(chave !== undefined && !keys.includes(chave)
      ? [violation('cob.chave', 'O campo cob.chave corresponde a uma conta que não pertence a este usuário recebedor.')]
      : []),
    ...(loc && loc.id !== charge?.number ? [locViolation(loc.id <= bank.book.charges.size && loc.id > 0)] : []),
  ]
  if (faults.length > 0) throw invalid(faults)
}

function locViolation(isOfAnother: boolean): Violation {
  return violation(
    'cob.loc.id',
    isOfAnother
      ? 'O location referenciado por loc.id já está sendo utilizado por outra cobrança.'
      : 'O location referenciado por loc.id inexiste.',
  )
}

/** Requested revision; `undefined` means the last. @throws Problem CobConsultaInvalida (unknown revision) */
function revisionIn({ revisao }: Query, { revisions }: Charge): number | undefined {
  if (revisao === undefined) return undefined
  const revision = typeof revisao === 'string' && /^\d{1,9}$/.test(revisao) ? Number(revisao) : Number.NaN
  if (revision < revisions.length) return revision
  throw new Problem('CobConsultaInvalida', [
    violation('revisao', 'O parâmetro revisao corresponde a uma revisão inexistente.'),
  ])
}

/** @throws Problem CobNaoEncontrado */
function known({ bank }: Account, txid: string): Charge {
  const charge = chargeOf(bank, txid)
  if (!charge) throw new Problem('CobNaoEncontrado')
  return charge
}

function answerOf({ bank: { book, liar } }: Account, cob: Cob): Cob {
  return cobAnswer(liar, cob, () => [...book.charges.values()].map((charge) => cobWithPix(book, charge)))
}

function violation(propriedade: string, razao = `O campo ${propriedade} não respeita o schema.`): Violation {
  return { razao, propriedade }
}

function invalid(violations: readonly Violation[]): Problem {
  return new Problem('CobOperacaoInvalida', violations)
}
