/**
 * Calls `run` once, after a while. Does not keep the process alive. Costs a fraction of `AbortSignal.timeout`, which
 * cannot be called off.
 * @returns calls it off
 */
export function startTimer(ms: number, run: () => void): () => void {
  const timer = setTimeout(run, ms).unref()
  return () => clearTimeout(timer)
}

/** Does something that is told to end, by its signal, after a while. */
export async function within<Done>(ms: number, run: (deadline: AbortSignal) => Promise<Done>): Promise<Done> {
  const ending = new AbortController()
  const stopTimer = startTimer(ms, () => ending.abort())
  try {
    return await run(ending.signal)
  } finally {
    stopTimer()
  }
}

/**
 * Keeps the process running. A worker waits on timers that keep nothing alive: without this it would end, with status 0, as
 * soon as the database closes its connections.
 * @returns lets it end
 * @source rules#health.8
 */
export function keepRunning(): () => void {
  const timer = setInterval(() => undefined, 3_600_000)
  return () => clearInterval(timer)
}
