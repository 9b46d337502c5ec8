import { flushCompileCache } from 'node:module'
import { startSimulator } from '@pixgate/bank-simulator'
import { realPause } from '../../src/platform/jobs/pause.ts'
import { wallNow } from './wall-clock.ts'

/**
 * The simulated bank as a process whose clock is put forward like that of `shifted-main.ts`, and that does not wait long
 * for anything. Otherwise it is what `bank-simulator/src/main.ts` starts.
 */

/** Between two tries of an event, and before a payment is made. */
const WAIT_MS = 20

let aheadMs = Number(process.argv[2])
process.on('message', (ms) => {
  aheadMs += Number(ms)
  process.send?.('advanced')
})
const { PIXGATE_SIMULATOR_PORT, PIXGATE_SIMULATOR_DATA_DIR, PIXGATE_SIMULATOR_EVENTS_URL } = process.env
const { port } = await startSimulator({
  port: Number(PIXGATE_SIMULATOR_PORT),
  dataDirectory: PIXGATE_SIMULATOR_DATA_DIR ?? '',
  eventsUrl: PIXGATE_SIMULATOR_EVENTS_URL ?? '',
  token: process.env.PIXGATE_PARTNER_TOKEN ?? '',
  secret: process.env.PIXGATE_PARTNER_SECRET ?? '',
  clock: { now: () => wallNow() + aheadMs, sleep: (_ms, signal) => realPause.for(WAIT_MS, signal) },
  warn: () => undefined,
})
process.stdout.write(`${JSON.stringify({ ready: true, port })}\n`)
flushCompileCache()
