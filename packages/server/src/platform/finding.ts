export interface Finding {
  readonly isOk: boolean
  /** Subject of the check: one or two words. */
  readonly check: string
  /** The state, and what to do about a fault. Never a secret. */
  readonly says: string
}

export function good(check: string, says: string): Finding {
  return { isOk: true, check, says }
}

export function bad(check: string, says: string): Finding {
  return { isOk: false, check, says }
}

export function reportOf(findings: readonly Finding[]): string {
  const width = Math.max(...findings.map(({ check }) => check.length))
  return findings.map(({ isOk, check, says }) => `${isOk ? '✔' : '✘'} ${check.padEnd(width)}  ${says}`).join('\n')
}
