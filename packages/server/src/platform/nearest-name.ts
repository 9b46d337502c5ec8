/**
 * The known name that a mistyped one most likely stands for, whatever its case; `undefined` where none is near: at most
 * two letters off, or a fifth of a long name.
 */
export function nearestName(name: string, known: Iterable<string>): string | undefined {
  const typed = name.toLowerCase()
  let nearest: string | undefined
  let leastOff = Math.max(2, Math.floor(name.length / 5)) + 1
  for (const candidate of known) {
    const off = editsBetween(typed, candidate.toLowerCase())
    if (off < leastOff) [nearest, leastOff] = [candidate, off]
  }
  return nearest
}

/** How many letters are left out, added, changed, or swapped with the next one. */
function editsBetween(one: string, other: string): number {
  let [beforeLast, last]: [number[], number[]] = [[], Array.from({ length: other.length + 1 }, (_, length) => length)]
  for (let i = 1; i <= one.length; i++) {
    const row = [i]
    for (let j = 1; j <= other.length; j++) {
      const changed = at(last, j - 1) + (one[i - 1] === other[j - 1] ? 0 : 1)
      const isSwap = i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1]
      const swapped = isSwap ? at(beforeLast, j - 2) + 1 : changed
      row.push(Math.min(at(last, j) + 1, at(row, j - 1) + 1, changed, swapped))
    }
    ;[beforeLast, last] = [last, row]
  }
  return at(last, other.length)
}

function at(row: readonly number[], index: number): number {
  return row[index] ?? Number.POSITIVE_INFINITY
}
