import { realPause } from '../../src/platform/jobs/pause.ts'
import { runBank } from './run-bank.ts'

/**
 * The simulated bank as a process whose clock is put forward like that of `shifted-main.ts`, and that does not wait long
 * for anything.
 */

/** Between two tries of an event, and before a payment is made. */
const WAIT_MS = 20

await runBank((_ms, signal) => realPause.for(WAIT_MS, signal))
