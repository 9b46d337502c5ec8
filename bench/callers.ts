import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { After } from './benchmark.ts'
import type { Figures } from './measure.ts'
import type { Process } from './pixgate.ts'
import { subscribe } from './webhooks.ts'

/** A call that callers repeat: one request, or a payment from its creation to its notification. */
export type Call = `${'payout' | 'charge' | 'refund'}${'' | ' created'}` | 'GET by id'

/**
 * Load of callers in a closed loop: each sends its next request when the previous one is answered, as a merchant's systems
 * do, not when the payment is final. The load ends when all payments are final.
 */
export interface CallerLoad {
  readonly call: Call
  readonly url: string
  readonly apiKey: string
  readonly callers: number
  readonly payments: number
  /** Charges to read or to refund, in turn. */
  readonly charges?: readonly string[]
}

/** A merchant's process: callers, and the server that receives their notifications. */
export interface Callers {
  readonly pid: number
  /** Registers its server as a webhook endpoint for all events. */
  subscribeTo(service: Process): Promise<void>
  /** @throws Error if the process ends, which it does when a call fails */
  run(load: CallerLoad): Promise<Figures>
}

export async function startCallers(after: After): Promise<Callers> {
  const child = fork(fileURLToPath(new URL('contestants/caller.ts', import.meta.url)))
  const exited = once(child, 'exit')
  const failed = exited.then(([code]) => Promise.reject(new Error(`the callers ended with exit status ${code}`)))
  failed.catch(() => undefined)
  after(async () => {
    if (child.connected) child.disconnect()
    await exited
  })
  const nextMessage = async () => (await Promise.race([once(child, 'message'), failed]))[0]
  const receiver: string = await nextMessage()
  return {
    pid: child.pid as number,
    subscribeTo: (service) => subscribe(service, receiver),
    run: (load) => {
      child.send(load)
      return nextMessage()
    },
  }
}
