import { randomBytes } from 'node:crypto'
import type { World } from '../support/world.ts'

const AT_ONCE = 50

/** Guesses so many tokens from one address, as fast as answers come. */
export async function guessTokens({ url }: Pick<World, 'url'>, count: number) {
  const answers: Record<number, number> = {}
  let left = count
  const guess = async () => {
    while (left > 0) {
      left -= 1
      const response = await fetch(`${url}/pay/${randomBytes(16).toString('base64url')}`)
      await response.arrayBuffer()
      answers[response.status] = (answers[response.status] ?? 0) + 1
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, guess))
  // 503: a busy machine's database.
  const { 404: unknown = 0, 429: limited = 0, 503: busy = 0 } = answers
  return { found: count - unknown - limited - busy, unknown, limited }
}
