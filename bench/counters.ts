import { readdirSync, readFileSync } from 'node:fs'

/** CPU time from `/proc` (Linux). Unlike rates, it is comparable on a busy machine. */

/** A tick of the kernel at the usual 100 Hz. */
const TICK_US = 10_000

/** CPU time of a process and its ended children, in microseconds. */
export function cpuUsOf(pid: number): number {
  const { ownTicks, reapedTicks } = statOf(pid) ?? NO_TIME
  return (ownTicks + reapedTicks) * TICK_US
}

/** The same including its running children: PostgreSQL with all its processes. */
export function treeCpuUsOf(pid: number): number {
  return childrenOf(pid).reduce((sum, child) => sum + cpuUsOf(child), cpuUsOf(pid))
}

/** Running children of a process. */
export function childrenOf(parent: number): readonly number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && statOf(Number(name))?.parent === parent)
    .map(Number)
}

/** The command line of a process; empty if it has ended. */
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

const NO_TIME: Stat = { parent: 0, ownTicks: 0, reapedTicks: 0 }

/** @returns `undefined` if the process has ended */
function statOf(pid: number): Stat | undefined {
  try {
    // The name of the program is in parentheses and may contain any character.
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
