import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { probePort } from '../packages/server/src/platform/ports.ts'

/** A server in a process of its own. */
export interface ServerProcess {
  readonly url: string
  /** From the command to the first good answer. */
  readonly startMs: number
  /** Ends it and waits until it is gone, with all it has started. */
  stop(): Promise<void>
}
