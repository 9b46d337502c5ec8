import type { Chance } from '../fuzz/chance.ts'

/** What is likely is so, and what is as likely as not is not; of several each in its turn. */
export function uneventful(): Chance {
  let picked = 0
  return {
    below: (limit) => limit >> 1,
    bool: (probability) => probability > 0.5,
    pick: (from) => {
      if (from.length === 0) throw new Error('there is nothing to pick from')
      return from[picked++ % from.length] as (typeof from)[number]
    },
  }
}
