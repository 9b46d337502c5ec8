import { flushCompileCache } from 'node:module'
import { type Clock, startSimulator } from '@pixgate/bank-simulator'
import { LISTENING } from './standard-bank.ts'
import { wallNow } from './wall-clock.ts'

/**
 * Runs the simulated bank that the environment tells of, as `bank-simulator/src/main.ts` does (where a port of
 * API Pix is named, as one of the standard), but on a clock that is put
 * forward by `argv[2]` milliseconds and by as many more as this process is sent.
 * @param sleep how long it really waits
 */
export async function runBank(sleep: Clock['sleep']): Promise<void> {
  let aheadMs = Number(process.argv[2])
  process.on('message', (ms) => {
    aheadMs += Number(ms)
    process.send?.('advanced')
  })
  const { PIXGATE_SIMULATOR_PORT, PIXGATE_SIMULATOR_DATA_DIR, PIXGATE_SIMULATOR_EVENTS_URL } = process.env
  const apiPixPort = process.env.PIXGATE_SIMULATOR_API_PIX_PORT
  const { port } = await startSimulator({
    port: Number(PIXGATE_SIMULATOR_PORT),
    dataDirectory: PIXGATE_SIMULATOR_DATA_DIR ?? '',
    ...(apiPixPort === undefined
      ? { eventsUrl: PIXGATE_SIMULATOR_EVENTS_URL ?? '' }
      : {
          apiPix: {
            ...LISTENING,
            port: Number(apiPixPort),
            certificatesDirectory: process.env.PIXGATE_SIMULATOR_CERTIFICATES_DIR ?? '',
          },
        }),
    token: process.env.PIXGATE_PARTNER_TOKEN ?? '',
    secret: process.env.PIXGATE_PARTNER_SECRET ?? '',
    hasIdempotentOrders: process.env.PIXGATE_PARTNER_IDEMPOTENT_ORDERS !== 'false',
    clock: { now: () => wallNow() + aheadMs, sleep },
    warn: () => undefined,
  })
  process.stdout.write(`${JSON.stringify({ ready: true, port })}\n`)
  flushCompileCache()
}
