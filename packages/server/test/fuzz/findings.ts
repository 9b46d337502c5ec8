/** What a campaign did and found. */
export interface Report {
  /** How often each operation answered with each status. */
  readonly answers: Map<string, Map<number, number>>
  /** By what findings of one kind have in common. */
  readonly findings: Map<string, Finding>
}

/** Something that must not be, as it was seen first. */
export interface Finding {
  count: number
  /** What, where, and how it is seen again. */
  readonly text: string
}

/** Nothing yet. */
export function emptyReport(): Report {
  return { answers: new Map(), findings: new Map() }
}

/** Counts an answer; status 0 is none. */
export function countAnswer({ answers }: Report, operation: string, status: number): void {
  const statuses = answers.get(operation) ?? new Map<number, number>()
  answers.set(operation, statuses.set(status, (statuses.get(status) ?? 0) + 1))
}

/** Counts a finding, and describes it where it is the first of its kind. */
export async function addFinding({ findings }: Report, kind: string, describe: () => Promise<string>): Promise<void> {
  const known = findings.get(kind)
  if (known) known.count += 1
  else findings.set(kind, { count: 1, text: await describe() })
}

/** How many answers there were. */
export function answersIn({ answers }: Report): number {
  return [...answers.values()].flatMap((statuses) => [...statuses.values()]).reduce((sum, count) => sum + count, 0)
}

/** How many of an operation's answers were those of a success, from 0 to 1. */
export function successOf(statuses: ReadonlyMap<number, number>): number {
  let [all, successful] = [0, 0]
  for (const [status, count] of statuses) {
    all += count
    if (status >= 200 && status < 300) successful += count
  }
  return successful / all
}

const EXCERPT = 1_000

/** Bytes as a person reads them: one character each, what cannot be seen escaped. */
export function excerpt(bytes: Buffer): string {
  const text = bytes.toString('latin1', 0, EXCERPT).replaceAll(/[^\n -~]/g, (character) => {
    return character === '\r' ? '' : `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`
  })
  return bytes.length > EXCERPT ? `${text}… (${bytes.length} bytes)` : text
}
