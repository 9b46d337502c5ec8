import type { ChaosReport } from './chaos.ts'

/** Whether everything is as it must be. */
export function isGood({ findings, unfinished }: ChaosReport): boolean {
  return unfinished === undefined && findings.every(({ explanation }) => explanation !== undefined)
}

/** What came of it, for a person. */
export function reportText(report: ChaosReport): string {
  const { findings, unfinished, complaints } = report
  const faults = findings.filter(({ explanation }) => explanation === undefined)
  const explained = findings.filter(({ explanation }) => explanation !== undefined)
  return [
    `seed ${report.seed}, bank ${report.connector} ${report.bankKind}`,
    `faults      ${counted(report.faults)}; ${report.restarts} restarts of processes`,
    `lies        ${counted(report.lies)}`,
    `asked       ${counted(report.asked)}`,
    `operations  ${counted(report.operations)}`,
    `open cases  ${counted(report.openCases)}`,
    ...[...complaints]
      .sort(([, one], [, other]) => other - one)
      .slice(0, 12)
      .map(([what, count]) => `log         ${count} × ${what}`),
    ...explained.map(({ rule, text, explanation }) => `explained   ${rule}: ${text}: ${explanation}`),
    ...faults.map(({ rule, text }) => `✘ ${rule}: ${text}`),
    ...(unfinished === undefined ? [] : [`✘ not finished: ${unfinished}`]),
    isGood(report) ? `✔ everything is right, or has a case (${explained.length})` : `${faults.length} faults`,
  ].join('\n')
}

function counted(counts: Readonly<Record<string, number>>): string {
  const all = Object.entries(counts).sort(([one], [other]) => (one < other ? -1 : 1))
  return all.map(([what, count]) => `${what} ${count}`).join(', ') || 'none'
}
