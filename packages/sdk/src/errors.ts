import type { ErrorCode } from './generated/errors.ts'
import type { ExceededLimit, ExistingOperation, FieldError, Problem, ReadFrom } from './generated/types.ts'

/** Language of `fix`. */
export type Language = 'en' | 'pt-BR'

/** Remedies by code. */
export type Fixes = Readonly<Partial<Record<PixgateErrorCode, Readonly<Record<Language, string>>>>>

/** Faults that the SDK itself finds. */
export type SdkErrorCode =
  | 'aborted'
  | 'connection_failed'
  | 'events_missing'
  | 'invalid_argument'
  | 'timeout'
  | 'unexpected_answer'

export type PixgateErrorCode = ErrorCode | SdkErrorCode

/** Details of an error, besides its code. */
export interface ErrorDetails {
  /** The method, such as `cashOuts.create`. */
  readonly operation: string
  readonly detail: string
  /** HTTP status; `undefined` without an answer. */
  readonly status?: number | undefined
  /** The whole answer, where it is one of Pixgate. */
  readonly problem?: Problem | undefined
  /** `unknown`: an answer was lost, so the call may have been carried out. `ask` finds out. */
  readonly outcome?: 'not_done' | 'unknown' | undefined
  /** The call that finds out an unknown outcome. */
  readonly ask?: string | undefined
  /** The same call may succeed when it is repeated, and is not carried out twice. */
  readonly isSafeToRetry?: boolean | undefined
  readonly retryAfterMs?: number | undefined
  readonly attempts?: number | undefined
  readonly correlationId?: string | undefined
  readonly cause?: unknown
}

/** Common to every error of the SDK. */
class Failure extends Error {
  static override readonly name = 'PixgateError'
  override readonly name = 'PixgateError'
  readonly code: PixgateErrorCode
  readonly operation: string
  readonly status: number | undefined
  readonly outcome: 'not_done' | 'unknown'
  readonly ask: string | undefined
  readonly isSafeToRetry: boolean
  readonly retryAfterMs: number | undefined
  readonly attempts: number
  readonly correlationId: string | undefined
  /** Remedy, in the language of the client. */
  readonly fix: string
  readonly problem: Problem | undefined
  /** Faults by field. */
  readonly errors: readonly FieldError[]
  readonly existing: ExistingOperation | undefined
  readonly limit: ExceededLimit | undefined
  readonly readFrom: ReadFrom | undefined

  constructor(code: PixgateErrorCode, details: ErrorDetails, fix = '') {
    const { operation, detail, problem, ask, outcome = 'not_done' } = details
    const open = outcome === 'unknown' ? ` The outcome is unknown; ask ${ask ?? 'the list of these operations'}.` : ''
    super(`${operation}: ${code}: ${detail}.${open}${fix && ` ${fix}`}`, { cause: details.cause })
    this.code = code
    this.operation = operation
    this.status = details.status
    this.outcome = outcome
    this.ask = outcome === 'unknown' ? ask : undefined
    this.isSafeToRetry = details.isSafeToRetry ?? false
    this.retryAfterMs = details.retryAfterMs
    this.attempts = details.attempts ?? 0
    this.correlationId = details.correlationId
    this.fix = fix
    this.problem = problem
    this.errors = problem?.errors ?? []
    this.existing = problem?.existing
    this.limit = problem?.limit
    this.readFrom = problem?.readFrom
  }
}

/** Details that an error always has, by its code. */
interface Always {
  readonly duplicate_external_id: { readonly existing: ExistingOperation }
  readonly partner_refused: { readonly existing: ExistingOperation }
  readonly pix_code_in_use: { readonly existing: ExistingOperation }
  readonly limit_exceeded: { readonly limit: ExceededLimit }
  readonly events_erased: { readonly readFrom: ReadFrom }
  readonly cursor_unknown: { readonly readFrom: ReadFrom }
}

/** Every error of the SDK. `code` narrows it: `if (error.code === 'limit_exceeded') error.limit.freesAt`. @source rules#sdk.7 */
export type PixgateError =
  | { [Code in keyof Always]: Failure & { readonly code: Code } & Always[Code] }[keyof Always]
  | (Failure & { readonly code: Exclude<PixgateErrorCode, keyof Always> })

/** For `error instanceof PixgateError`. */
export const PixgateError = Failure as unknown as {
  readonly prototype: PixgateError
  new (code: PixgateErrorCode, details: ErrorDetails, fix?: string): PixgateError
}

/** Remedies of {@link SdkErrorCode}, and those that differ where amounts are `Cents`. */
export const sdkFixes = {
  value_not_positive: { en: 'Pass an amount above zero.', 'pt-BR': 'Informe um valor acima de zero.' },
  refund_value_not_positive: { en: 'Pass an amount above zero.', 'pt-BR': 'Informe um valor acima de zero.' },
  value_too_large: {
    en: 'Pass centavos: R$ 150,00 is cents(150_00). If the value is right, the operator can raise PIXGATE_MAX_VALUE_CENTS.',
    'pt-BR':
      'Informe centavos: R$ 150,00 é cents(150_00). Se o valor está certo, o operador pode aumentar PIXGATE_MAX_VALUE_CENTS.',
  },
  aborted: { en: 'Your signal ended the call.', 'pt-BR': 'O seu sinal encerrou a chamada.' },
  connection_failed: {
    en: 'Check PIXGATE_URL and the network.',
    'pt-BR': 'Confira PIXGATE_URL e a rede.',
  },
  events_missing: {
    en: 'Read the feed again from a cursor that you stored earlier. If places are still missing, inform the operator.',
    'pt-BR': 'Leia o feed de novo a partir de um cursor anterior. Se ainda faltarem posições, avise o operador.',
  },
  invalid_argument: { en: 'Correct the argument.', 'pt-BR': 'Corrija o argumento.' },
  timeout: {
    en: 'Make the same call again, or allow more time with timeoutMs.',
    'pt-BR': 'Repita a mesma chamada ou permita mais tempo com timeoutMs.',
  },
  unexpected_answer: {
    en: 'Check that PIXGATE_URL leads to Pixgate, and what a proxy in between answers. A newer SDK may know the answer.',
    'pt-BR':
      'Confira se PIXGATE_URL leva ao Pixgate e o que um proxy no caminho responde. Um SDK mais novo pode conhecer a resposta.',
  },
} satisfies Fixes
