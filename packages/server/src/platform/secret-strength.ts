/** What an estimate must find at least: far below what 16 random bytes have in any spelling, far above what people think of. */
const BITS_MIN = 56

/** What stands in documents and examples for a secret that somebody has yet to make. */
const PLACEHOLDER =
  /change.?(me|it)|choose.?(one|me)|replace.?(me|this|with)|fill.?(me|in)|your.?(own.?)?(secret|token|key|password)|placeholder|example/i

/** What somebody who guesses tries first, and what people put beside a secret to know which it is: it counts for nothing. */
const COMMON =
  /password|passwd|postgres|senha|secret|segredo|token|admin|operator|partner|metrics|inbound|encryption|previous|pixgate|default|letmein|welcome|sandbox|production|live|test|canary|root|user|bank|pix|key|the|of/g

/** Neighbours, one after the other: in the alphabet with the digits before it, and on a keyboard. */
const ROWS = ['0123456789abcdefghijklmnopqrstuvwxyz', '1234567890', 'qwertyuiop', 'asdfghjkl', 'zxcvbnm']

/**
 * Why a secret is too easy to guess, for a sentence that begins with its name; `undefined` where nothing says so. What a
 * generator made is never refused: nor is prose that somebody made up, which no count can tell.
 * @source rules#production.2
 */
export function weaknessOf(secret: string): string | undefined {
  if (PLACEHOLDER.test(secret)) return `is a placeholder of a document: ${ADVICE}`
  return estimatedBits(secret) < BITS_MIN
    ? `is too easy to guess, as it repeats, counts or names itself: ${ADVICE}`
    : undefined
}

/**
 * The same of the password in an address, which somebody else may have chosen: only what a document has in its place, or
 * nothing but common words, is refused.
 */
export function passwordWeaknessOf(address: string): string | undefined {
  const password = URL.parse(address)?.password ?? ''
  if (password === '') return undefined
  const isCommon =
    password
      .toLowerCase()
      .replace(COMMON, '')
      .replace(/[\W_\d]/g, '') === ''
  return isCommon || PLACEHOLDER.test(password) ? `has a password that is easy to guess: ${ADVICE}` : undefined
}

const ADVICE = 'make one with openssl rand -base64 32'

/** What cannot be told from what stands before it, in bits. */
function estimatedBits(secret: string): number {
  const text = secret.toLowerCase().replace(COMMON, ' ')
  const surprising = [...text].filter((character, index) => character !== ' ' && !isForeseen(text, index))
  return surprising.length * Math.log2(new Set(surprising).size || 1)
}

/** Repeats the character before it, goes on as those before it went on, or repeats three that were there already. */
function isForeseen(text: string, index: number): boolean {
  const [character = '', before] = [text[index], text[index - 1]]
  if (character === before) return true
  const [last = '', lastButOne = ''] = distinctBefore(text, index)
  const goesOn = ROWS.some((row) => {
    const [first, second, third] = [lastButOne, last, character].map((one) => (one === '' ? -1 : row.indexOf(one)))
    if (first === undefined || second === undefined || third === undefined) return false
    return Math.min(first, second, third) >= 0 && third - second === second - first
  })
  return goesOn || (index >= 2 && text.indexOf(text.slice(index - 2, index + 1)) < index - 2)
}

/** The two characters before, the nearer one first; one that is repeated counts once. */
function distinctBefore(text: string, end: number): string[] {
  const found: string[] = []
  for (let index = end - 1; index >= 0 && found.length < 2; index -= 1) {
    const character = text[index] ?? ''
    if (character !== found.at(-1)) found.push(character)
  }
  return found
}
