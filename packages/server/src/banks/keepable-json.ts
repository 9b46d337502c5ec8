/** JSON that can be read again from the database: what `JSON.parse` takes and PostgreSQL does not. */

/** A string or a number, wherever it stands. */
const SCALAR = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g

/** Longer than any double is written. */
const NUMBER_MAX_LENGTH = 64

/**
 * Looks for half a surrogate pair, U+0000, and a number beyond a double or written out at length.
 * @param text valid JSON
 * @returns what is wrong, repeating no value, or `undefined`
 * @source failure-modes#DB-45
 */
export function keepingFault(text: string): string | undefined {
  for (const [scalar] of text.matchAll(SCALAR)) {
    if (!scalar.startsWith('"')) {
      if (!isKeepableNumber(scalar)) return 'the event has a number that cannot be kept'
    } else if (scalar.includes('\\u') && !isKeepableText(JSON.parse(scalar))) {
      return 'the event has a character that cannot be kept'
    }
  }
  return undefined
}

/** Whether a database that counts in decimals has room for it. */
function isKeepableNumber(number: string): boolean {
  return number.length <= NUMBER_MAX_LENGTH && !/e[+-]?\d{4}/i.test(number) && Number.isFinite(Number(number))
}

function isKeepableText(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0')
}
