import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { After } from './benchmark.ts'
import { type Figures, type Load, measure } from './measure.ts'

/** One of the compared programs. Each runs in a process of its own, so that all have the same conditions. */
export interface Contestant {
  readonly pid: number
  measure(load: Load): Promise<Figures>
}

/**
 * Starts a program of `contestants/`, which calls {@link compete}.
 * @throws Error if it ends early
 */
export async function startContestant(after: After, program: string, ...args: string[]): Promise<Contestant> {
  const child = fork(fileURLToPath(new URL(`contestants/${program}.ts`, import.meta.url)), args)
  const exited = once(child, 'exit')
  const failed = exited.then(([code]) => Promise.reject(new Error(`${program} ended with exit status ${code}`)))
  failed.catch(() => undefined)
  after(async () => {
    if (child.connected) child.disconnect()
    await exited
  })
  const nextMessage = async () => (await Promise.race([once(child, 'message'), failed]))[0]
  await nextMessage()
  return {
    pid: child.pid as number,
    measure: (load) => {
      child.send(load)
      return nextMessage()
    },
  }
}

/** Runs in the program: measures `call` under each load that it receives. */
export function compete(call: () => Promise<unknown>): void {
  process.on('message', async (load: Load) => process.send?.(await measure(call, load)))
  process.once('disconnect', () => process.exit())
  process.send?.('ready')
}
