import type { TSchema } from 'typebox'

/** A row of a table of variables. Its shape's description says what is accepted. */
export interface Variable {
  readonly shape: TSchema
  readonly description: string
  /** As text. Where absent and unset, the value is `undefined`. */
  readonly default?: string
  /** In production instead of {@link default}. */
  readonly productionDefault?: string
  /** What production accepts, where that is less. */
  readonly productionShape?: TSchema
  /** Where it must be set, whatever its default. What is required always may be supplied by whoever composes the server. */
  readonly required?: 'always' | 'in production'
  /** The sandbox makes one where it is not set. */
  readonly isMadeBySandbox?: true
  /** Where the choice is explained, told to whoever did not make it: a page of this repository. */
  readonly guide?: string
  /** Never shown, in production no other secret's value, and may stand in a file (rules#config.8). */
  readonly secret?: true
  /** The variable that must be set beside it in production. */
  readonly needs?: string
  /** Where the bank is: nobody reaches one on another machine in a mode that they did not choose. */
  readonly isBankAddress?: true
}

/** Rows by the names of their variables, in the order of the documentation. */
export type Variables = Readonly<Record<string, Variable>>

/** Variables of the process. */
export type Environment = Readonly<Record<string, string | undefined>>
