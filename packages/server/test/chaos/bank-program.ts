import { realPause } from '../../src/platform/jobs/pause.ts'
import { runBank } from '../support/run-bank.ts'

/**
 * The simulated bank as a process whose clock is put forward like that of `support/shifted-main.ts`. It does not wait
 * longer than a second for anything, nor outlive who started it.
 */
const WAIT_MAX_MS = 1_000

process.on('disconnect', () => process.exit(1))
await runBank((ms, signal) => realPause.for(Math.min(ms, WAIT_MAX_MS), signal))
