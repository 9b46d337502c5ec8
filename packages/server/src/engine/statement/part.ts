import type { Ids } from '../../platform/ids.ts'
import type { Draft } from '../draft.ts'
import type { Parameters } from './parameters.ts'

/** What is written: a draft, under the id of its batch. */
export interface Batch {
  readonly id: string
  readonly draft: Draft
  /** For rows that have no id yet. */
  readonly ids: Ids
}

/** A part of the statement that writes one kind of row, and only where `go` holds. */
export interface Part {
  /** In the statement's name; short: PostgreSQL tells statements apart by the first 63 characters of their names. */
  readonly name: string
  /** Parameters are numbered as they are asked for: only a part that is wanted is asked for its SQL. */
  isWanted(draft: Draft): boolean
  /** Its common table expressions. */
  sql(batch: Batch, parameters: Parameters): string
}
