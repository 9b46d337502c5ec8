import type { Chance } from './chance.ts'

/** What the service has told of its ids and references, to be used in later requests. */
export interface Corpus {
  /** Takes what is in an answer of this path. */
  learn(path: string, answer: unknown): void
  /** One of the things with this name; `undefined` where none is known. Draws once, however many are known. */
  recall(name: string, chance: Chance): string | undefined
  /** Forgets what it knows by this name and never learns it again. */
  spare(name: string): void
}

/** What a path is about: its last word, or the one before its parameter. */
export function subjectOf(path: string): string {
  const segments = path.split('/')
  const parameter = segments.findIndex((segment) => segment.startsWith('{'))
  const word = segments.at(parameter < 0 ? -1 : parameter - 1) ?? ''
  return OTHER_WORDS[word] ?? word
}

const OTHER_WORDS: Readonly<Record<string, string>> = { 'cash-out-qrcode': 'cash-out', refund: 'refund-in' }

/** What can be refunded. */
export const PAID_CASH_IN = 'id of a paid cash-in'

/** How many of a name are kept; the oldest makes room. */
const KEPT = 200

const IDS = ['id', 'webhook_id']
const REFERENCES = ['externalId', 'providerTransactionId', 'transactionId', 'endToEndId', 'returnId', 'pixCode']

/** Knows nothing yet. */
export function createCorpus(): Corpus {
  const known = new Map<string, Set<string>>()
  const spared = new Set<string>()

  function keep(name: string, value: unknown): void {
    if (typeof value !== 'string' || spared.has(value)) return
    const values = known.get(name) ?? new Set()
    known.set(name, values.add(value))
    const [oldest] = values
    if (values.size > KEPT && oldest !== undefined) values.delete(oldest)
  }

  function learn(path: string, answer: unknown): void {
    if (typeof answer !== 'object' || answer === null) return
    const subject = subjectOf(path)
    for (const [key, value] of Object.entries(answer)) {
      if (IDS.includes(key)) keep(`id of ${subject}`, value)
      if (key === 'nextCursor') keep(`cursor of ${subject}`, value)
      if (REFERENCES.includes(key)) keep(key, value)
      learn(path, value)
    }
    if ('id' in answer && 'status' in answer && answer.status === 'PAID') keep(PAID_CASH_IN, answer.id)
  }

  return {
    learn,
    recall: (name, chance) => {
      const values = [...(known.get(name) ?? [])]
      const place = chance.below(KEPT * 1_000)
      return values[place % values.length]
    },
    spare: (name) => {
      for (const value of known.get(name) ?? []) spared.add(value)
      known.delete(name)
    },
  }
}
