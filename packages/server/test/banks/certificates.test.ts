import assert from 'node:assert/strict'
import test from 'node:test'
import { type BankCertificate, createCertificateWatch } from '../../src/banks/certificates.ts'
import { capturedLog } from '../support/captured-log.ts'

const DAY_MS = 86_400_000
const ENDS_AT = 1_000 * DAY_MS

/** Log of a check on each of these days before the certificate ends. */
function linesAt(daysBefore: readonly number[], certificatesAt: (days: number) => readonly BankCertificate[]) {
  const log = capturedLog()
  let days = 0
  const look = createCertificateWatch({
    certificates: () => certificatesAt(days),
    clock: { now: () => ENDS_AT - days * DAY_MS },
    logger: log.logger,
  })
  for (days of daysBefore) look()
  return log.lines.map(({ level, certificate, daysLeft, msg }) => [level, certificate, daysLeft, msg.split(':')[0]])
}

test('[partner.12] a certificate that ends within 30 days is a warning a day, within 7 an error a day', () => {
  const client = { of: 'client', endsAt: ENDS_AT } as const
  const soon = 'our certificate for the bank expires soon'
  assert.deepEqual(
    linesAt([31, 30.01, 30, 29.5, 29.01, 29, 7.5, 7, 6.5, 6, 0, -1], () => [client]),
    [
      ['warn', 'client', 30, soon],
      ['warn', 'client', 29, soon],
      ['warn', 'client', 7, soon],
      ['error', 'client', 7, soon],
      ['error', 'client', 6, soon],
      ['error', 'client', 0, 'our certificate for the bank has expired'],
      ['error', 'client', -1, 'our certificate for the bank has expired'],
    ],
  )
})

test('[partner.12] each certificate is logged by itself, and a renewed one no longer', () => {
  const bank = (renewed: boolean) => ({ of: 'bank', endsAt: ENDS_AT + (renewed ? 365 * DAY_MS : 0) }) as const
  const authority = { of: 'authority', endsAt: ENDS_AT - DAY_MS } as const
  assert.deepEqual(
    linesAt([10, 9, 8], (days) => [bank(days < 10), authority]).map(([level, of]) => [level, of]),
    [
      ['warn', 'bank'],
      ['warn', 'authority'],
      ['warn', 'authority'],
      ['error', 'authority'],
    ],
  )
  assert.deepEqual(
    linesAt([10, 9], () => []),
    [],
  )
})
