/** Chance that can be repeated: the same seeds draw the same things in the same order. */
export interface Chance {
  /** A whole number from 0 to `limit` − 1. */
  below(limit: number): number
  /** True with this probability, 0 to 1. */
  bool(probability: number): boolean
  /** One of them. */
  pick<T>(from: readonly T[]): T
}

/** Chance from whole numbers; every other combination draws differently. */
export function chanceOf(...seeds: readonly number[]): Chance {
  let state = seeds.reduce((mixed, seed) => scramble(mixed ^ (seed + 0x9e3779b9)), 0x2545f491)
  const next = () => {
    state = (state + 0x9e3779b9) | 0
    return scramble(state) >>> 0
  }
  const below = (limit: number) => next() % limit
  return {
    below,
    bool: (probability) => next() < probability * 2 ** 32,
    pick: (from) => {
      if (from.length === 0) throw new Error('there is nothing to pick from')
      return from[below(from.length)] as (typeof from)[number]
    },
  }
}

/** The finaliser of MurmurHash3: every bit of the input moves half of the output's. */
function scramble(value: number): number {
  let mixed = value | 0
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b)
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35)
  return mixed ^ (mixed >>> 16)
}
