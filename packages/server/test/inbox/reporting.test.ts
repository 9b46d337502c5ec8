import assert from 'node:assert/strict'
import test from 'node:test'
import type { EventOutcome } from '../../src/health/index.ts'
import { createInboxReports } from '../../src/inbox/jobs.ts'
import type { InboxResult } from '../../src/inbox/store.ts'
import { capturedLog } from '../support/captured-log.ts'

function reportOf(result: Partial<InboxResult>) {
  const log = capturedLog()
  const outcomes: EventOutcome[] = []
  const reports = createInboxReports(log.logger, {
    onCallback: () => undefined,
    onEvent: (outcome) => outcomes.push(outcome),
  })
  const row = { inboxId: 'inbox-1', ordinal: 0, state: 'DONE', operationId: null, failures: 0, parkings: 0 } as const
  reports.marked({ ...row, outcome: 'APPLIED', dueAt: null, ...result })
  return [outcomes, log.lines.map(({ level }) => level)]
}

const AT = Date.parse('2026-11-21T13:00:00Z')

const RESULTS: readonly (readonly [EventOutcome, Partial<InboxResult>, levels: readonly string[]])[] = [
  ['applied', { outcome: 'APPLIED' }, []],
  ['ignored', { outcome: 'IGNORED' }, []],
  ['ignored', { outcome: 'IN_PROGRESS' }, []],
  ['ignored', { outcome: 'KNOWN' }, []],
  ['queried', { outcome: 'ASKED' }, []],
  ['unproven', { outcome: 'UNPROVEN' }, []],
  ['given_up', { outcome: 'CASE_OPENED', state: 'PARKED' }, ['error']],
  ['quarantined', { outcome: 'its key is missing', state: 'QUARANTINED' }, ['error']],
  ['quarantined', { outcome: 'contradicts another event; its key is missing', state: 'CONFLICT' }, ['error']],
  ['parked', { outcome: 'no such operation yet', state: 'PARKED', dueAt: AT }, ['warn']],
  ['retried', { outcome: 'WAITING', state: 'NEW', dueAt: AT }, []],
]

for (const [outcome, result, levels] of RESULTS) {
  test(`[metrics.1] [logs.3] an event that is ${result.outcome}, ${result.state ?? 'DONE'}, counts as ${outcome}`, () => {
    assert.deepEqual(reportOf(result), [[outcome], levels])
  })
}
