import { readdirSync, readFileSync } from 'node:fs'

/** CPU time by the kernel's counters: it survives a busy machine, which rates do not. Linux alone has them in `/proc`. */

/** What the kernel counts in, where nobody built it otherwise. */
const TICK_US = 10_000

/** CPU time of a process and of its children that have ended, in microseconds. */
export function cpuUsOf(pid: number): number {
  const { ownTicks, reapedTicks } = statOf(pid) ?? NOTHING
  return (ownTicks + reapedTicks) * TICK_US
}

/** The same, of a process and of all that it has started: PostgreSQL with its backends and background processes. */
export function treeCpuUsOf(pid: number): number {
  return childrenOf(pid).reduce((sum, child) => sum + cpuUsOf(child), cpuUsOf(pid))
}

/** Processes that a process has started and that live. */
export function childrenOf(parent: number): readonly number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && statOf(Number(name))?.parent === parent)
    .map(Number)
}

/** The command line of a process; empty where it has ended. */
export function commandLineOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
  } catch {
    return ''
  }
}

interface Stat {
  readonly parent: number
  readonly ownTicks: number
  readonly reapedTicks: number
}

const NOTHING: Stat = { parent: 0, ownTicks: 0, reapedTicks: 0 }

/** `undefined`: it has ended. */
function statOf(pid: number): Stat | undefined {
  try {
    // The name of the program stands in parentheses and may hold anything.
    const [, parent = 0, ...rest] = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ')
      .map(Number)
    const [user = 0, system = 0, reapedUser = 0, reapedSystem = 0] = rest.slice(9)
    return { parent, ownTicks: user + system, reapedTicks: reapedUser + reapedSystem }
  } catch {
    return undefined
  }
}
