/** What one check found: a line of the report. */
export interface Finding {
  readonly isOk: boolean
  /** What was checked: one or two words. */
  readonly check: string
  /** What is so, and where it should not be, what to do. Never a secret. */
  readonly says: string
}

/** All is well with `check`. */
export function good(check: string, says: string): Finding {
  return { isOk: true, check, says }
}

/** Something is wrong with `check`. */
export function bad(check: string, says: string): Finding {
  return { isOk: false, check, says }
}

/** A line for each finding. */
export function reportOf(findings: readonly Finding[]): string {
  const width = Math.max(...findings.map(({ check }) => check.length))
  return findings.map(({ isOk, check, says }) => `${isOk ? '✔' : '✘'} ${check.padEnd(width)}  ${says}`).join('\n')
}
