import { appendFileSync } from 'node:fs'

/** What an attack saw, for its report. */
export function say(text: string): void {
  if (process.env.ATTACK_LOG) appendFileSync(process.env.ATTACK_LOG, `${text}\n`)
}
