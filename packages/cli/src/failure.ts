import type { PixgateError } from '@pixgate/sdk'

/** Exit codes, the same for every command. @source rules#cli.2 */
export const EXITS = {
  done: 0,
  refused: 1,
  usageError: 2,
  notFound: 3,
  notAllowed: 4,
  notReachable: 5,
  outcomeUnknown: 6,
} as const

export type Exit = keyof typeof EXITS

export const EXIT_MEANINGS: Readonly<Record<Exit, string>> = {
  done: 'done',
  refused: 'refused, or failed',
  usageError: 'used wrongly',
  notFound: 'not found, or not verified',
  notAllowed: 'not allowed',
  notReachable: 'not reachable',
  outcomeUnknown: 'outcome unknown; the error has the command that finds out',
}

interface FailureDetails {
  readonly exit: Exit
  readonly code: string
  readonly fix?: string | undefined
  /** The command that finds out an unknown outcome. */
  readonly command?: string | undefined
  readonly errors?: readonly unknown[] | undefined
  readonly correlationId?: string | undefined
}

/** A command that ends without success. */
export class Failure extends Error {
  readonly exit: Exit
  readonly details: FailureDetails

  constructor(message: string, details: FailureDetails) {
    super(message)
    this.exit = details.exit
    this.details = details
  }
}

export function usageError(message: string, fix?: string): Failure {
  return new Failure(message, { exit: 'usageError', code: 'used_wrongly', fix })
}

/**
 * Maps an error to its exit code.
 * @param command finds out an unknown outcome
 */
export function failureOf(error: unknown, command?: string): Failure | undefined {
  if (error instanceof Failure) return error
  // The SDK is loaded only by commands that need it, so its class is not at hand.
  if (!(error instanceof Error) || error.name !== 'PixgateError') return undefined
  const { code, operation, message, outcome, fix, problem, errors, correlationId } = error as PixgateError
  const isOpen = outcome === 'unknown'
  const fields = errors.map(({ field, message: says }) => `\n  ${field}: ${says}`).join('')
  const detail = problem ? problem.detail : message.replace(`${operation}: ${code}: `, '').replace(fix, '').trim()
  return new Failure(`${detail}${fields}`, {
    exit: isOpen ? 'outcomeUnknown' : exitOf(error as PixgateError),
    code,
    fix: isOpen ? undefined : fix,
    command: isOpen ? command : undefined,
    errors,
    correlationId,
  })
}

function exitOf({ code, status }: PixgateError): Exit {
  if (code === 'invalid_argument' || status === 400) return 'usageError'
  if (status === 401 || status === 403) return 'notAllowed'
  if (status === 404) return 'notFound'
  if (status === undefined || status >= 500 || code === 'unexpected_answer') return 'notReachable'
  return 'refused'
}
