import type { ExceededLimit } from '@pixgate/spec'
import { Counter, Histogram, type Registry } from 'prom-client'
import type { RefusedCall } from '../banks/calls.ts'
import type { BankCall } from '../banks/port.ts'
import { REFUSAL_REASONS } from '../credentials/reports.ts'
import { moduleAndVerb } from '../platform/db/pool-reports.ts'
import { STRANGER_OUTCOMES, type StrangerOutcome } from '../platform/http/stranger-report.ts'
import { harmless, withoutFault } from '../platform/observer.ts'
import { CALLBACK_ORIGINS, type CallbackOrigin, ERASED, EVENT_OUTCOMES, type EventOutcome } from './labels.ts'

/**
 * What this process counts and times as it happens. Labels have few values each: a route as declared, a kind, a state, and
 * never an id.
 * @source rules#metrics.1, rules#metrics.2
 */

/** From a fast answer to one that nobody waits for, in seconds. */
const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

/**
 * Makes the instruments, as what modules tell them. None of it throws.
 * @param bankCalls every call that a bank may be asked
 */
export function createCounted(registry: Registry, bankCalls: readonly BankCall[]) {
  return {
    ...harmless(httpMetrics(registry)),
    ...harmless(secretMetrics(registry)),
    engine: harmless(engineMetrics(registry)),
    ...harmless(limitMetrics(registry)),
    ...harmless(bankMetrics(registry, bankCalls)),
    inbox: harmless(inboxMetrics(registry)),
    deliveries: harmless(deliveryMetrics(registry)),
    ...harmless(tripWireMetrics(registry)),
    ...harmless(databaseMetrics(registry)),
    ...workerMetrics(registry),
    retention: harmless(retentionMetrics(registry)),
  }
}

function httpMetrics(registry: Registry) {
  const requests = new Histogram({
    name: 'pixgate_http_request_duration_seconds',
    help: 'Requests that were answered, by the path as declared and the class of the status',
    labelNames: ['method', 'route', 'status_class'],
    buckets: SECONDS,
    registers: [registry],
  })
  const unreadable = new Counter({
    name: 'pixgate_http_unreadable_total',
    help: 'What came on a connection, could not be read as a request and was answered, by the status',
    labelNames: ['status'],
    registers: [registry],
  })
  for (const status of [400, 408, 431]) unreadable.inc({ status }, 0)
  const refused = new Counter({
    name: 'pixgate_credentials_refused_total',
    help: 'API keys, and tokens of operators, that did not let their bearer in, by the reason',
    labelNames: ['credential', 'reason'],
    registers: [registry],
  })
  for (const [credential, reasons] of Object.entries(REFUSAL_REASONS)) {
    for (const reason of reasons) refused.inc({ credential, reason }, 0)
  }
  const strangers = new Counter({
    name: 'pixgate_http_strangers_total',
    help: 'Connections closed and requests limited of those who showed no right credentials; requests on too many connections with right ones',
    labelNames: ['outcome'],
    registers: [registry],
  })
  for (const outcome of STRANGER_OUTCOMES) strangers.inc({ outcome }, 0)
  return {
    onRefused: (credential: string, reason: string) => refused.inc({ credential, reason }),
    onStranger: (outcome: StrangerOutcome) => strangers.inc({ outcome }),
    onUnreadable: (status: number) => unreadable.inc({ status }),
    onRequest: (method: string, route: string, status: number, durationMs: number) => {
      requests.observe({ method, route, status_class: `${Math.floor(status / 100)}xx` }, durationMs / 1_000)
    },
  }
}

function secretMetrics(registry: Registry) {
  const uses = new Counter({
    name: 'pixgate_previous_secret_uses_total',
    help: 'Requests that this process accepted because of a previous secret, by the variable that it stands in',
    labelNames: ['variable'],
    registers: [registry],
  })
  return { onPreviousSecret: (variable: string) => uses.inc({ variable }) }
}

function engineMetrics(registry: Registry) {
  const registers = [registry]
  const sizes = new Histogram({
    name: 'pixgate_engine_batch_size_commands',
    help: 'Commands in a batch of the engine of this process',
    buckets: [1, 2, 4, 8, 16, 32, 64, 128, 256],
    registers,
  })
  const waits = new Histogram({
    name: 'pixgate_engine_queue_wait_seconds',
    help: 'How long commands waited for the engine of this process',
    buckets: SECONDS,
    registers,
  })
  const commits = new Histogram({
    name: 'pixgate_engine_commit_duration_seconds',
    help: "How long the statements of the engine's batches took",
    buckets: SECONDS,
    registers,
  })
  const moves = new Counter({
    name: 'pixgate_operation_moves_total',
    help: 'Operations that were made in a state or came into it, by this process',
    labelNames: ['kind', 'state'],
    registers,
  })
  const cases = new Counter({
    name: 'pixgate_cases_opened_total',
    help: 'Cases that this process opened',
    labelNames: ['kind'],
    registers,
  })
  return {
    onBatch: (waitsMs: readonly number[]) => {
      sizes.observe(waitsMs.length)
      for (const waitMs of waitsMs) waits.observe(waitMs / 1_000)
    },
    onCommit: (durationMs: number) => commits.observe(durationMs / 1_000),
    onMove: (kind: string, state: string) => moves.inc({ kind, state }),
    onCase: (kind: string) => cases.inc({ kind }),
  }
}

function limitMetrics(registry: Registry) {
  const refusals = new Counter({
    name: 'pixgate_limit_refusals_total',
    help: 'Payouts and refunds that this process refused because of a limit, by the limit and whose it is',
    labelNames: ['limit', 'owner'],
    registers: [registry],
  })
  return { onLimitExceeded: ({ name, owner }: ExceededLimit) => refusals.inc({ limit: name, owner }) }
}

function bankMetrics(registry: Registry, bankCalls: readonly BankCall[]) {
  const calls = new Histogram({
    name: 'pixgate_bank_call_duration_seconds',
    help: 'Calls to the bank that have ended, by what was asked and what came of it',
    labelNames: ['call', 'outcome'],
    buckets: SECONDS,
    registers: [registry],
  })
  // From the beginning, so that the first one is seen as an increase.
  const outcome: RefusedCall = 'unauthorized'
  for (const call of bankCalls) calls.zero({ call, outcome })
  return {
    onBankCall: (call: BankCall, outcome: string, durationMs: number) => {
      calls.observe({ call, outcome }, durationMs / 1_000)
    },
  }
}

function tripWireMetrics(registry: Registry) {
  const trips = new Counter({
    name: 'pixgate_trip_wire_trips_total',
    help: 'How often this process suspended payouts and refunds, as the bank and our books differ',
    registers: [registry],
  })
  return { onTrip: () => trips.inc() }
}

function inboxMetrics(registry: Registry) {
  const registers = [registry]
  const callbacks = new Counter({
    name: 'pixgate_inbox_callbacks_total',
    help: 'Callbacks that reached this process, by what they prove of their origin',
    labelNames: ['origin'],
    registers,
  })
  const events = new Counter({
    name: 'pixgate_inbox_outcomes_total',
    help: 'What became of events of the bank in this process, each time that one was looked at',
    labelNames: ['outcome'],
    registers,
  })
  for (const origin of CALLBACK_ORIGINS) callbacks.inc({ origin }, 0)
  for (const outcome of EVENT_OUTCOMES) events.inc({ outcome }, 0)
  return {
    onCallback: (origin: CallbackOrigin) => callbacks.inc({ origin }),
    onEvent: (outcome: EventOutcome) => events.inc({ outcome }),
  }
}

function deliveryMetrics(registry: Registry) {
  const registers = [registry]
  const attempts = new Histogram({
    name: 'pixgate_delivery_attempt_duration_seconds',
    help: 'Attempts of this process to deliver a notification, by what came of them',
    labelNames: ['outcome'],
    buckets: SECONDS,
    registers,
  })
  const ended = new Counter({
    name: 'pixgate_deliveries_ended_total',
    help: 'Deliveries that ended in this process: delivered, or failed, which is given up',
    labelNames: ['state'],
    registers,
  })
  for (const state of ['delivered', 'failed']) ended.inc({ state }, 0)
  return {
    onAttempt: (outcome: string, state: 'PENDING' | 'DELIVERED' | 'FAILED', durationMs: number) => {
      attempts.observe({ outcome }, durationMs / 1_000)
      if (state !== 'PENDING') ended.inc({ state: state.toLowerCase() })
    },
  }
}

function databaseMetrics(registry: Registry) {
  const slow = new Counter({
    name: 'pixgate_database_slow_statements_total',
    help: 'Statements of this process that took longer than half a second, by module and verb',
    labelNames: ['statement'],
    registers: [registry],
  })
  return {
    onSlowStatement: (statement: string) => slow.inc({ statement: moduleAndVerb(statement) }),
  }
}

function retentionMetrics(registry: Registry) {
  const erased = new Counter({
    name: 'pixgate_personal_data_erased_rows_total',
    help: 'Rows whose personal data this process erased because their time was over',
    labelNames: ['what'],
    registers: [registry],
  })
  for (const what of ERASED) erased.inc({ what }, 0)
  return { onErased: (what: (typeof ERASED)[number], rows: number) => erased.inc({ what }, rows) }
}

function workerMetrics(registry: Registry) {
  const failures = new Counter({
    name: 'pixgate_worker_failures_total',
    help: 'Steps of the workers of this process that failed, and that were tried again',
    labelNames: ['worker'],
    registers: [registry],
  })
  return {
    /** Counts the failures of a worker from now on. */
    failuresOf: (worker: string) => {
      withoutFault(() => failures.inc({ worker }, 0))
      return () => withoutFault(() => failures.inc({ worker }))
    },
  }
}
