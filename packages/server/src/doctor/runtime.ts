import { bad, type Finding } from '../platform/finding.ts'
import { endedRuntime } from '../platform/runtime.ts'

/**
 * Whether this Node.js gets fixes still; nothing is said where it does.
 * @source rules#production.8
 */
export function examineRuntime(nowMs: number, version?: string): Finding[] {
  const ended = endedRuntime(nowMs, version)
  if (ended === undefined) return []
  return [bad('Node.js', `${ended.version} gets no security fixes since ${ended.lastDay}: install a newer major`)]
}
