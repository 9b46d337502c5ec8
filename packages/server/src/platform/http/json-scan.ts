/** Objects and arrays within each other, the outermost counted. */
const MAX_DEPTH = 16

/** Commas of a whole body. Bounds what validation can cost: unknown fields, and arrays compared item by item. */
const MAX_COMMAS = 1_000

const QUOTE = 0x22
const COMMA = 0x2c
const OPEN_BRACKET = 0x5b
const BACKSLASH = 0x5c
const CLOSE_BRACKET = 0x5d
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d

/**
 * Looks for what `JSON.parse` takes in silence and an API about money must not: a key twice in one object (the last one
 * would win, and another reader may take the first), nesting and sizes without bound, and `__proto__`.
 *
 * One pass, no recursion. Judges no grammar: `JSON.parse` comes after it.
 * @returns what is wrong, for the client to read, or `undefined`
 * @source rules#http.11
 */
export function jsonFault(text: string): string | undefined {
  /** What is open at this point: the keys seen so far of an object, `null` for an array. */
  const open: (Set<string> | null)[] = []
  let keys: Set<string> | null = null
  let keyExpected = false
  let commas = 0
  for (let at = 0; at < text.length; at += 1) {
    const character = text.charCodeAt(at)
    if (character === QUOTE) {
      const end = endOfString(text, at)
      if (keyExpected && keys) {
        const fault = addKey(keys, text.slice(at + 1, end))
        if (fault) return fault
      }
      keyExpected = false
      at = end
    } else if (character === COMMA) {
      commas += 1
      if (commas > MAX_COMMAS) return `the request body has more than ${MAX_COMMAS} values`
      keyExpected = keys !== null
    } else if (character === OPEN_BRACE || character === OPEN_BRACKET) {
      if (open.length === MAX_DEPTH) return `the request body is nested deeper than ${MAX_DEPTH} levels`
      keys = character === OPEN_BRACE ? new Set() : null
      open.push(keys)
      keyExpected = keys !== null
    } else if (character === CLOSE_BRACE || character === CLOSE_BRACKET) {
      open.pop()
      keys = open.at(-1) ?? null
      keyExpected = false
    }
  }
  return undefined
}

/** Index of the quote that closes the string opened at `start`, or the text's length. */
function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at += 1) {
    const character = text.charCodeAt(at)
    if (character === QUOTE) return at
    if (character === BACKSLASH) at += 1
  }
  return text.length
}

const TWICE = 'twice in one object'

/** What {@link jsonFault} found, without the text of whoever wrote it: for a log. @source rules#logs.1 */
export function faultWithoutText(fault: string): string {
  return fault.endsWith(TWICE) ? `the request body has a key ${TWICE}` : fault
}

function addKey(keys: Set<string>, written: string): string | undefined {
  const key = written.includes('\\') ? decodeKey(written) : written
  if (key === '__proto__') return 'the request body has the key "__proto__"'
  if (keys.has(key)) return `the request body has the key ${JSON.stringify(key.slice(0, 64))} ${TWICE}`
  keys.add(key)
  return undefined
}

/** `"a"` and `"\u0061"` are the same key. */
function decodeKey(written: string): string {
  try {
    return JSON.parse(`"${written}"`)
  } catch {
    return written
  }
}
