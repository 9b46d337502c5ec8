import { isInstant } from '../instants.ts'
import { Problem, type ProblemType, type Violation } from './problems.ts'

/** Query parameters of a list request. */
export type Query = Readonly<Record<string, unknown>>

/** Parsed query of a list request. */
export interface ListQuery {
  /** Epoch milliseconds; both ends are inclusive. */
  readonly from: number
  readonly to: number
  readonly page: number
  readonly pageItems: number
  /** Requested parameters, which the response repeats. */
  readonly parametros: Readonly<Record<string, string | boolean>>
}

/** Type of a filter parameter. */
export type Filter = 'boolean' | RegExp

const PAGE_ITEMS = 100
const PAGE_ITEMS_MAX = 1_000

/** Filters by CPF or CNPJ of the payer, debtor or recipient. */
export const DOCUMENT_FILTERS = { cpf: /^\d{11}$/, cnpj: /^[0-9A-Z]{14}$/ } as const

/**
 * Reads and validates the query of a list request.
 * @param invalid the problem type of violations
 * @param filters further parameters
 * @throws Problem with every violation
 * @source BCB, API Pix (parameters, «ConsultaInvalida»)
 */
export function readList(
  query: Query,
  invalid: ProblemType,
  filters: Readonly<Record<string, Filter>> = {},
  { isWindowOptional = false } = {},
): ListQuery {
  const violations: Violation[] = []
  const wrong = (propriedade: string, razao = `O parâmetro ${propriedade} não respeita o schema.`): undefined => {
    violations.push({
      razao,
      propriedade,
      ...(typeof query[propriedade] === 'string' && { valor: query[propriedade] }),
    })
  }
  const instantOf = (name: 'inicio' | 'fim') => {
    const text = query[name]
    if (typeof text === 'string' && isInstant(text)) return Date.parse(text)
    return text === undefined && isWindowOptional ? undefined : wrong(name)
  }
  const integerOf = (name: string, { min, max }: { min: number; max: number }, byDefault: number) => {
    const text = query[name]
    if (text === undefined) return byDefault
    const number = typeof text === 'string' && /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN
    return number >= min && number <= max ? number : wrong(name)
  }
  const [from, to] = [instantOf('inicio'), instantOf('fim')]
  if (from !== undefined && to !== undefined && to < from)
    wrong('fim', 'O parâmetro fim é anterior ao parâmetro inicio.')
  const page = integerOf('paginacao.paginaAtual', { min: 0, max: 999_999_999 }, 0)
  const pageItems = integerOf('paginacao.itensPorPagina', { min: 1, max: PAGE_ITEMS_MAX }, PAGE_ITEMS)
  if (query.cpf !== undefined && query.cnpj !== undefined) {
    wrong('cpf', 'Os parâmetros cpf e cnpj não podem ser utilizados ao mesmo tempo.')
  }
  const chosen = Object.entries(filters).flatMap(([name, filter]) => {
    const value = filterValue(query[name], filter)
    if (value === undefined && query[name] !== undefined) wrong(name)
    return value === undefined ? [] : [[name, value] as const]
  })
  if (violations.length > 0) throw new Problem(invalid, violations)
  const window = Object.fromEntries(
    ['inicio', 'fim'].flatMap((name) => (query[name] ? [[name, String(query[name])]] : [])),
  )
  return {
    from: from ?? Number.NEGATIVE_INFINITY,
    to: to ?? Number.POSITIVE_INFINITY,
    page: page ?? 0,
    pageItems: pageItems ?? PAGE_ITEMS,
    parametros: { ...window, ...Object.fromEntries(chosen) },
  }
}

/** One page of the results, with the pagination for the response. */
export function pageOf<T>(found: readonly T[], { page, pageItems, parametros }: ListQuery) {
  const paginacao = {
    paginaAtual: page,
    itensPorPagina: pageItems,
    quantidadeDePaginas: Math.max(1, Math.ceil(found.length / pageItems)),
    quantidadeTotalDeItens: found.length,
  }
  return {
    parametros: { ...parametros, paginacao },
    items: found.slice(page * pageItems, (page + 1) * pageItems),
  }
}

/** Whether a document matches the filter, if there is one. */
export function isOfDocument({ cpf, cnpj }: ListQuery['parametros'], document: string | undefined): boolean {
  const asked = cpf ?? cnpj
  return asked === undefined || asked === document
}

/** Whether a presence matches the filter, if there is one. */
export function isPresentAs(asked: string | boolean | undefined, isPresent: boolean): boolean {
  return asked === undefined || asked === isPresent
}

function filterValue(text: unknown, filter: Filter): string | boolean | undefined {
  if (typeof text !== 'string') return undefined
  if (filter === 'boolean') return text === 'true' ? true : text === 'false' ? false : undefined
  return filter.test(text) ? text : undefined
}
