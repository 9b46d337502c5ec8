import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { createWebhook } from '@pixgate/spec'
import type { After } from './benchmark.ts'
import { jsonHeaders } from './http-client.ts'
import type { Figures } from './measure.ts'
import type { Process } from './pixgate.ts'

/** What callers do, over and over: one request, or a payment's whole life until its notification arrives. */
export type Call = `${'payout' | 'charge' | 'refund'}${'' | ' created'}` | 'GET by id'

/**
 * How much is to be called, and by how many at once, each in a closed loop of requests: a caller goes on when its request is
 * answered, as a merchant's systems do, and not when the payment's life is over. The load is over when all lives are.
 */
export interface CallerLoad {
  readonly call: Call
  readonly url: string
  readonly apiKey: string
  readonly callers: number
  readonly payments: number
  /** Charges to read, or to refund from, one after the other, round and round. */
  readonly charges?: readonly string[]
}

/** A load that comes at an even pace, however long each payment takes: an open loop. */
export interface PacedLoad extends Omit<CallerLoad, 'callers'> {
  readonly perSecond: number
}

/** What a merchant saw of one payment: epoch milliseconds, with fractions. */
export interface Seen {
  readonly id: string
  readonly sent: number
  readonly answered: number
  /** A charge: when its payer was told to pay. */
  readonly paying?: number
  readonly notified: number
}

/** The merchant, in a process of its own: callers, and the server that is told of what became of their payments. */
export interface Callers {
  readonly pid: number
  /** The URL at which it is notified. */
  readonly receiver: string
  /** Has a service tell it of everything. */
  subscribeTo(service: Process): Promise<void>
  /** @throws Error where the process ends, as it does when a call fails */
  run(load: CallerLoad): Promise<Figures>
  /** The same at a pace, of payments whose lives are awaited. @returns what was seen of each, in the order of the payments */
  runPaced(load: PacedLoad): Promise<readonly Seen[]>
}

/** Starts a merchant's process. */
export async function startCallers(after: After): Promise<Callers> {
  const child = fork(fileURLToPath(new URL('contestants/caller.ts', import.meta.url)))
  const exited = once(child, 'exit')
  const failed = exited.then(([code]) => Promise.reject(new Error(`the callers ended with exit status ${code}`)))
  failed.catch(() => undefined)
  after(async () => {
    if (child.connected) child.disconnect()
    await exited
  })
  const heard = async () => (await Promise.race([once(child, 'message'), failed]))[0]
  const receiver: string = await heard()
  const send = (load: CallerLoad | PacedLoad) => {
    child.send(load)
    return heard()
  }
  return {
    pid: child.pid as number,
    receiver,
    subscribeTo: async ({ send, apiKey }) => {
      const body = JSON.stringify({ url: receiver, events: ['pix_cash_in', 'pix_cash_out', 'pix_cash_in_reversal'] })
      await send({ method: 'POST', path: createWebhook.path, headers: jsonHeaders(apiKey), body })
    },
    run: send,
    runPaced: send,
  }
}
