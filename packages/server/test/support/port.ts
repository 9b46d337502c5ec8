import { randomInt } from 'node:crypto'
import { freePort } from '../../src/platform/ports.ts'

/** Below the range that outgoing connections take their ports from: one of those could have it before we listen. */
const FIRST = 12_000
const LAST = 30_000

/** A free loopback port that stays free until it is listened on, and again after a restart. */
export function testPort(): Promise<number> {
  return freePort(randomInt(FIRST, LAST))
}
