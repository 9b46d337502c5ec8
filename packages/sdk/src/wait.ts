import { PixgateError } from './errors.ts'
import { LONGEST_RETRY_AFTER_MS, type RequestOptions, type Runtime } from './transport.ts'

/** How an operation ended, as far as it is known. `open` is no failure: its money may still move. */
export interface End<Operation> {
  readonly outcome: 'confirmed' | 'failed' | 'open'
  readonly operation: Operation
}

export interface WaitOptions extends Pick<RequestOptions, 'signal' | 'correlationId'> {
  /** For the whole wait; 60 s. Then the outcome is `open`. */
  readonly timeoutMs?: number | undefined
}

const [TIMEOUT_MS, READ_TIMEOUT_MS] = [60_000, 10_000]

const [FIRST_DELAY_MS, LONGEST_DELAY_MS] = [300, 5_000]

/**
 * Reads an operation until it has ended, or the time is over.
 * @param outcomes by status; any other status is open
 * @source rules#sdk.9
 * @throws PixgateError if the operation was never read, or if reading it is refused or aborted
 */
export async function waitForEnd<Operation extends { readonly status: string }>(
  runtime: Runtime,
  read: (options: RequestOptions) => Promise<Operation>,
  outcomes: Readonly<Record<string, End<Operation>['outcome'] | undefined>>,
  { timeoutMs = TIMEOUT_MS, ...options }: WaitOptions = {},
): Promise<End<Operation>> {
  const until = runtime.now() + timeoutMs
  let last: Operation | undefined
  for (let delayMs = FIRST_DELAY_MS; ; delayMs = Math.min(LONGEST_DELAY_MS, delayMs * 1.5)) {
    let retryAfterMs = 0
    try {
      last = await read({ ...options, maxRetries: 0, timeoutMs: READ_TIMEOUT_MS })
    } catch (error) {
      const isOver = runtime.now() >= until
      if (!(error instanceof PixgateError) || !error.isSafeToRetry || (isOver && last === undefined)) throw error
      retryAfterMs = Math.min(LONGEST_RETRY_AFTER_MS, error.retryAfterMs ?? 0)
    }
    const outcome = (last && outcomes[last.status]) ?? 'open'
    const restMs = until - runtime.now()
    if (last && (outcome !== 'open' || restMs <= 0)) return { outcome, operation: last }
    const waitMs = Math.max(retryAfterMs, delayMs * (0.5 + runtime.random() / 2))
    // An abort ends the wait; the next read reports it.
    await runtime.sleep(Math.min(Math.max(restMs, 0), waitMs), options.signal).catch(() => undefined)
  }
}
