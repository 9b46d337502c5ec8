import { statement } from '../../src/platform/db/database.ts'

/** What crash scenarios look for in the database. */

/** Open cases of an operation. */
export const casesOf = statement<[operationId: string], { kind: string }>(
  'test.crash_cases_of',
  'SELECT kind FROM "case" WHERE operation_id = $1 AND closed_at IS NULL',
)

/** Open cases of a kind, by their references. */
export const openCases = statement<[kind: string], { reference: string }>(
  'test.crash_open_cases',
  'SELECT reference FROM "case" WHERE kind = $1 AND closed_at IS NULL ORDER BY reference',
)

/** The steps of the cases of an operation, each with how many rows of the audit trail tell of it. */
export const stepsOf = statement<[operationId: string], { step: string; audited: number }>(
  'test.crash_steps',
  `SELECT s.step, (SELECT count(*)::integer FROM audit a WHERE a.action = 'case.' || s.step AND a.subject = c.id::text) AS audited
     FROM "case" c JOIN case_step s ON s.case_id = c.id WHERE c.operation_id = $1 ORDER BY s.at, s.id`,
)

/** The closes in the order of their days, each with how many rows of the audit trail tell of its day. */
export const closesMade = statement<[], { day: string; status: string; audited: number }>(
  'test.crash_closes',
  `SELECT d.day::text AS day, d.content::jsonb ->> 'status' AS status,
          (SELECT count(*)::integer FROM audit a WHERE a.action = 'day.closed' AND a.subject = d.day::text) AS audited
     FROM daily_close d ORDER BY d.day`,
)
