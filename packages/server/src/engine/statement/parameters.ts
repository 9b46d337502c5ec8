import type { Elements } from '../../platform/db/binary-array.ts'
import type { Document, Operation } from '../operation.ts'

/** Parameters of the engine's statement, and how values are written as such. */

/** The type of a column and its values, one for each row. */
export type Column = {
  [Type in keyof Elements]: readonly [type: Type, values: readonly (Elements[Type] | null)[]]
}[keyof Elements]

/** Numbers the parameters in the order they are asked for, and collects their values. */
export class Parameters {
  readonly values: unknown[] = []

  /** One value. */
  one(type: string, value: unknown): string {
    this.values.push(value)
    return `$${this.values.length}::${type}`
  }

  /**
   * One array per column of a set of rows: `unnest($4::uuid[], $5::text[]) AS name (id, kind)`. A column without any value is
   * no array: the shorter of several that are unnested is filled up.
   */
  rows(name: string, columns: Readonly<Record<string, Column>>): string {
    const arrays = Object.values(columns).map(([type, values]) =>
      this.one(`${type}[]`, values.some((value) => value !== null) ? values : null),
    )
    return `unnest(${arrays.join(', ')}) AS ${name} (${Object.keys(columns).join(', ')})`
  }
}

/** A document as a value. */
export function jsonOrNull(document: Document | undefined): string | null {
  return document === undefined ? null : JSON.stringify(document)
}

/**
 * Facts as a value. What is not known is not written: an operation's row is written anew with each move.
 * @param before of a move: what it takes back is told
 * @source rules#engine.18
 */
export function factsText(facts: Document, before?: Operation): string {
  const known: Record<string, Document[string]> = { ...facts }
  for (const name in facts) if (facts[name] === null && before?.facts[name] == null) known[name] = undefined
  return JSON.stringify(known)
}
