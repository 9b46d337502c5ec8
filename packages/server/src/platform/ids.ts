import { randomBytes } from 'node:crypto'
import type { Clock } from './clock.ts'

/** Where identifiers and chance come from; injected, so that tests can repeat them. */
export interface Ids {
  /** A UUIDv7 of now: unique, and sorted by creation, also within one millisecond. */
  uuid(): string
}

/** Randomness in one UUID, and in one draw from the operating system: a draw each was a tenth of the edge's time. */
const RANDOM_BYTES = 8
const DRAW_BYTES = 512 * RANDOM_BYTES

/** Ids of one millisecond are counted in twelve bits; what does not fit takes the next one. */
const SEQUENCE_MAX = 0xfff

/**
 * Identifiers from the operating system's randomness, every byte of which is used once, behind a count that keeps those
 * of one millisecond in order.
 * @source rules#ids.1
 */
export function createIds(clock: Clock): Ids {
  let drawn = Buffer.alloc(0)
  let latest = 0
  let sequence = 0

  function advance(): void {
    const now = clock.now()
    if (now <= latest && sequence < SEQUENCE_MAX) {
      sequence += 1
    } else {
      latest = Math.max(now, latest + 1)
      sequence = 0
    }
  }

  return {
    uuid: () => {
      if (drawn.length === 0) drawn = randomBytes(DRAW_BYTES)
      const random = drawn.subarray(0, RANDOM_BYTES)
      drawn = drawn.subarray(RANDOM_BYTES)
      advance()
      return uuidV7(latest, sequence, random)
    },
  }
}

/**
 * Builds a UUIDv7 (RFC 9562, method 1).
 * @param nowMs epoch milliseconds
 * @param sequence its place within the millisecond, twelve bits
 * @param random eight bytes
 */
export function uuidV7(nowMs: number, sequence: number, random: Uint8Array): string {
  const bytes = Buffer.alloc(16)
  bytes.writeUIntBE(nowMs, 0, 6)
  bytes.writeUInt16BE(sequence, 6)
  bytes.set(random, 8)
  return uuidText(bytes, 7)
}

/**
 * Writes sixteen bytes as a UUID of the given version, setting version and variant bits.
 */
export function uuidText(bytes: Buffer, version: number): string {
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | (version << 4)
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80
  const hex = bytes.toString('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** Whether a text is a UUID; anything else must not reach a `uuid` column. */
export function isUuid(text: string): boolean {
  return UUID.test(text)
}
