import { type Static, Type } from 'typebox'
import { endpoint } from './endpoint.ts'

/** @source rules#health.1 */
export const getHealth = endpoint({
  id: 'getHealth',
  method: 'GET',
  path: '/healthz',
  auth: 'none',
  tag: 'Health',
  summary: 'Whether the process lives',
  description: 'For a supervisor that restarts a dead process. It checks nothing else.',
  responses: {
    200: {
      description: 'It lives',
      schema: Type.Object({ status: Type.Literal('ok') }, { title: 'Health' }),
      example: { status: 'ok' },
    },
  },
  errors: [],
})

const reason = Type.String({ maxLength: 200 })

const dependency = Type.Object(
  { status: Type.Enum(['ok', 'degraded', 'failed', 'unknown']), reason: Type.Optional(reason) },
  { title: 'Dependency' },
)

const readiness = Type.Object(
  {
    status: Type.Enum(['ready', 'not_ready']),
    reasons: Type.Array(reason, { maxItems: 20 }),
    dependencies: Type.Object({ database: dependency, clock: dependency, bank: dependency }),
  },
  { title: 'Readiness' },
)

/** The answer of `/readyz`. */
export type Readiness = Static<typeof readiness>

/** @source rules#health.2, rules#health.5 */
export const getReadiness = endpoint({
  id: 'getReadiness',
  method: 'GET',
  path: '/readyz',
  auth: 'none',
  tag: 'Health',
  summary: 'Whether the process can serve, or why not',
  description:
    'For a load balancer: 503 while the database does not answer, its clock is off, or the process is shutting down.',
  responses: {
    200: {
      description: 'Ready; a bank that is away does not change that',
      schema: readiness,
      example: {
        status: 'ready',
        reasons: [],
        dependencies: {
          database: { status: 'ok' },
          clock: { status: 'ok' },
          bank: { status: 'degraded', reason: 'the bank answers 401: check PIXGATE_PARTNER_TOKEN' },
        },
      },
    },
    503: {
      description: 'Not ready',
      schema: readiness,
      example: {
        status: 'not_ready',
        reasons: ['the database refuses connections'],
        dependencies: {
          database: { status: 'failed', reason: 'the database refuses connections' },
          clock: { status: 'unknown' },
          bank: { status: 'ok' },
        },
      },
    },
  },
  errors: [],
})

/** @source rules#health.4 */
export const getMetrics = endpoint({
  id: 'getMetrics',
  method: 'GET',
  path: '/metrics',
  auth: 'admin',
  role: 'viewer',
  tag: 'Health',
  summary: 'Read the metrics of this process',
  description: 'In the text format of Prometheus. Answers the token of the metrics too, where one is configured.',
  responses: {
    200: {
      description: 'The metrics as they are now',
      contentType: 'text/plain; version=0.0.4; charset=utf-8',
      schema: Type.String({ title: 'Metrics', maxLength: 4_194_304 }),
      example:
        '# HELP pixgate_ledger_faults Faults that the last verification of the ledger found\n# TYPE pixgate_ledger_faults gauge\npixgate_ledger_faults 0\n',
    },
  },
  errors: [],
})
