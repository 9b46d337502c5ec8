import type { Pixgate } from '@pixgate/sdk'
import type { PixgateOperator } from '@pixgate/sdk/operator'
import type { Input } from './input.ts'
import type { Output } from './output.ts'
import type { Settings } from './settings.ts'

export interface Option {
  /** `texts` may be given several times. */
  readonly kind: 'text' | 'flag' | 'texts'
  /** Name of its value in the help. */
  readonly value?: string
  readonly says: string
  readonly isRequired?: true
}

export interface Argument {
  readonly name: string
  readonly says: string
  readonly isOptional?: true
  /** Takes all that follows. */
  readonly isRest?: true
}

/** A line of the table that makes help, completion, documents and tests. @source rules#cli.1 */
export interface Command {
  /** `charge create` */
  readonly name: string
  readonly says: string
  /** More for the help of the command, a line each. */
  readonly more?: readonly string[]
  readonly arguments?: readonly Argument[]
  readonly options?: Readonly<Record<string, Option>>
  /** Run by a test. `$CHARGE` and others stand for operations of its story. */
  readonly examples: readonly string[]
  /** The credentials under which it moves money, or lets others move it. With real money it needs `--live`. */
  readonly moves?: 'merchant' | 'operator'
  /** The command that finds out an unknown outcome. */
  readonly finds?: (input: Input) => string
  /** Everything after its name is passed on. */
  readonly isPassedOn?: true
  /** @returns the exit code of a program that it ran; otherwise it is 0, or that of a failure */
  readonly run: (input: Input, context: Context) => Promise<void> | Promise<number>
}

/** Settings, output and clients of a running command. */
export interface Context {
  readonly settings: Settings
  readonly out: Output
  readonly surroundings: Surroundings
  /** Aborts on SIGINT and SIGTERM. */
  readonly signal: AbortSignal
  merchant(): Promise<Pixgate>
  operator(): Promise<PixgateOperator>
}

/** The machine around the program, which tests replace. */
export interface Surroundings {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly directory: string
  readonly isTerminal: boolean
  readonly signal: AbortSignal
  write(text: string): void
  warn(text: string): void
  /** Reads standard input to its end. */
  read(): Promise<Buffer>
}

export const GLOBAL_OPTIONS: Readonly<Record<string, Option>> = {
  json: { kind: 'flag', says: 'print JSON, for programs' },
  profile: { kind: 'text', value: 'NAME', says: 'use the address and the secrets of this profile' },
  'secret-file': { kind: 'text', value: 'FILE', says: 'read the API key, token or secret from this file' },
  live: { kind: 'flag', says: 'allow the command to move real money' },
  help: { kind: 'flag', says: 'print this' },
}

/** The option of every list. */
export const LIMIT: Readonly<Record<string, Option>> = {
  limit: { kind: 'text', value: 'N', says: 'so many at most; 20' },
}
