/**
 * Calls `run` once, after a while. Does not keep the process alive. Costs a fraction of `AbortSignal.timeout`, which
 * cannot be called off.
 * @returns calls it off
 */
export function startTimer(ms: number, run: () => void): () => void {
  const timer = setTimeout(run, ms).unref()
  return () => clearTimeout(timer)
}
