import { randomBytes } from 'node:crypto'
import type { Clock } from './clock.ts'

/** Where identifiers and chance come from; injected, so that tests can repeat them. */
export interface Ids {
  /** A UUIDv7 of now: unique, and sorted by creation, also within one millisecond. */
  uuid(): string
}

/** Randomness in one UUID, in hex digits, and in one draw from the operating system: a draw each was a tenth of the edge's time. */
const RANDOM_DIGITS = 16
const DRAW_BYTES = 4_096

/** Ids of one millisecond are counted in twelve bits; what does not fit takes the next one. */
const SEQUENCE_MAX = 0xfff

/**
 * Identifiers from the operating system's randomness, every byte of which is used once, behind a count that keeps those
 * of one millisecond in order.
 * @source rules#ids.1
 */
export function createIds(clock: Clock): Ids {
  let drawn = ''
  let used = 0
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
      if (used === drawn.length) {
        drawn = randomBytes(DRAW_BYTES).toString('hex')
        used = 0
      }
      const random = drawn.slice(used, used + RANDOM_DIGITS)
      used += RANDOM_DIGITS
      advance()
      return uuidV7(latest, sequence, random)
    },
  }
}

/**
 * Builds a UUIDv7 (RFC 9562, method 1), of text alone: by way of bytes it takes three times as long.
 * @param nowMs epoch milliseconds
 * @param sequence its place within the millisecond, twelve bits
 * @param random sixteen hex digits
 */
export function uuidV7(nowMs: number, sequence: number, random: string): string {
  const time = nowMs.toString(16).padStart(12, '0')
  const version = (0x7000 | sequence).toString(16)
  const variant = VARIANTS.charAt(Number.parseInt(random.charAt(0), 16))
  return `${time.slice(0, 8)}-${time.slice(8)}-${version}-${variant}${random.slice(1, 4)}-${random.slice(4)}`
}

/** A hex digit of randomness with the two bits of the variant, `10`, in place of its upper ones. */
const VARIANTS = '89ab89ab89ab89ab'

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
