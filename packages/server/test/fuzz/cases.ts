import { type Chance, chanceOf } from './chance.ts'
import { PAID_CASH_IN, subjectOf } from './corpus.ts'
import { proofOf, type Secrets } from './credentials.ts'
import type { Operation } from './document.ts'
import { type Draft, type FuzzedRequest, finish } from './draft.ts'
import { type Mutation, mutations } from './mutations.ts'
import { type Source, uuidOf, validObject, validValue } from './values.ts'

/** One request of a run, which its seed and index make again. */
export interface FuzzCase {
  readonly index: number
  readonly operation: Operation
  /** In the order in which they were made; none: the request is valid. */
  readonly mutations: readonly string[]
  readonly request: FuzzedRequest
}

/** What every case of a run is made from. */
export interface CaseSource extends Secrets, Omit<Source, 'chance' | 'operation'> {
  readonly seed: number
  readonly operations: readonly Operation[]
}

/**
 * Makes the case of an index.
 * @param keep which of its mutations are made; all of them by default
 */
export function makeCase(source: CaseSource, index: number, keep: (place: number) => boolean = () => true): FuzzCase {
  const chance = chanceOf(source.seed, index)
  const operation = chance.pick(source.operations.flatMap((it) => Array<Operation>(weightOf(it)).fill(it)))
  const chosen = chooseMutations(operation, chance)
  const draft = validDraft({ ...source, chance, operation }, index)
  const made = chosen.filter((_, place) => keep(place))
  chosen.forEach((mutation, place) => {
    if (keep(place)) mutation.change(draft, { ...source, operation, chance: chanceOf(source.seed, index, place) })
  })
  return { index, operation, mutations: made.map(({ name }) => name), request: finish(draft, chance) }
}

/** What has more to be wrong is asked more often. */
function weightOf({ body, query }: Operation): number {
  return 1 + (body ? 3 : 0) + (Object.keys(query).length > 0 ? 1 : 0)
}

function chooseMutations(operation: Operation, chance: Chance): Mutation[] {
  const fitting = mutations.filter(({ fits }) => fits?.(operation) ?? true)
  const weighted = fitting.flatMap((mutation) => Array<Mutation>(mutation.weight ?? 1).fill(mutation))
  const count = chance.pick([0, 0, 1, 1, 1, 1, 1, 1, 2, 3])
  return Array.from({ length: count }, () => chance.pick(weighted))
}

/** A cursor is one that was told, and then the page has no number. */
function validQuery(source: Source): Record<string, unknown> {
  const { operation, corpus, chance } = source
  const { cursor, ...query } = validObject({ properties: operation.query, required: operation.requiredQuery }, source)
  const told = corpus.recall(`cursor of ${subjectOf(operation.path)}`, chance)
  if (cursor === undefined || told === undefined) return query
  const { page: _, ...others } = query
  return { ...others, cursor: told }
}

function validDraft(source: Source & Secrets, index: number): Draft {
  const { operation, corpus, chance } = source
  const named = operation.id === 'createRefundIn' ? PAID_CASH_IN : `id of ${subjectOf(operation.path)}`
  const query = validQuery(source)
  const { body } = operation
  return {
    operation,
    method: operation.method,
    path: operation.path,
    parameters: Object.fromEntries(
      operation.pathParameters.map((name) => [name, corpus.recall(named, chance) ?? uuidOf(chance)]),
    ),
    query: Object.entries(query).map(([name, value]) => ({ name, value: String(value) })),
    correlationIds: [`fuzz-${index}`],
    idempotencyKeys: [],
    headers: [['X-Forwarded-For', `10.${chance.below(256)}.${chance.below(256)}.${chance.below(256)}`]],
    contentTypes: body ? ['application/json'] : [],
    prove: proofOf(operation, source),
    value: body && validValue(body.schema, source),
    encode: (json) => Buffer.from(json),
    isChunked: false,
    flaws: new Map(),
    isSpoiled: false,
  }
}
