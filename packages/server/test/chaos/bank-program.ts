import { flushCompileCache } from 'node:module'
import { startSimulator } from '@pixgate/bank-simulator'
import { realPause } from '../../src/platform/jobs/pause.ts'
import { wallNow } from '../support/wall-clock.ts'

/**
 * The simulated bank as a process whose clock is put forward like that of `support/shifted-main.ts`. It does not wait
 * longer than a second for anything, nor outlive who started it.
 */
const WAIT_MAX_MS = 1_000

let aheadMs = Number(process.argv[2])
process.on('message', (ms) => {
  aheadMs += Number(ms)
  process.send?.('advanced')
})
process.on('disconnect', () => process.exit(1))
const { PIXGATE_SIMULATOR_PORT, PIXGATE_SIMULATOR_DATA_DIR, PIXGATE_SIMULATOR_EVENTS_URL } = process.env
const { port } = await startSimulator({
  port: Number(PIXGATE_SIMULATOR_PORT),
  dataDirectory: PIXGATE_SIMULATOR_DATA_DIR ?? '',
  eventsUrl: PIXGATE_SIMULATOR_EVENTS_URL ?? '',
  token: process.env.PIXGATE_PARTNER_TOKEN ?? '',
  secret: process.env.PIXGATE_PARTNER_SECRET ?? '',
  hasIdempotentOrders: process.env.PIXGATE_PARTNER_IDEMPOTENT_ORDERS !== 'false',
  clock: {
    now: () => wallNow() + aheadMs,
    sleep: (ms, signal) => realPause.for(Math.min(ms, WAIT_MAX_MS), signal),
  },
  warn: () => undefined,
})
process.stdout.write(`${JSON.stringify({ ready: true, port })}\n`)
flushCompileCache()
