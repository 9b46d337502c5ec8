/** Does work when its turn has come. */
export type Turns = <Result>(work: () => Promise<Result>) => Promise<Result>

/** Lets so many work at the same time; the others wait, in the order in which they came. */
export function createTurns(most: number): Turns {
  const waiting: (() => void)[] = []
  let free = most
  return async (work) => {
    if (free > 0) free -= 1
    else await new Promise<void>((resolve) => waiting.push(resolve))
    try {
      return await work()
    } finally {
      const next = waiting.shift()
      if (next) next()
      else free += 1
    }
  }
}
