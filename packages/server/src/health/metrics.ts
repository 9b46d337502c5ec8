import type { ExceededLimit } from '@pixgate/spec'
import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import { REFUSAL_REASONS } from '../access/index.ts'
import type { BreakerName, BreakerState } from '../banks/breaker.ts'
import type { RefusedCall } from '../banks/calls.ts'
import type { BankCertificate } from '../banks/certificates.ts'
import { ORIGINS } from '../banks/inbound.ts'
import type { BankCall } from '../banks/port.ts'
import type { Clock, DatabaseClock } from '../platform/clock.ts'
import { moduleAndVerb } from '../platform/db/database.ts'
import { STRANGER_OUTCOMES, type StrangerOutcome } from '../platform/http/strangers.ts'
import { harmless, withoutFault } from '../platform/runtime.ts'
import type { Backlog, Count } from './store.ts'
import type { BacklogReading } from './watches.ts'

/** Labels and their values, as far as known in advance. @source rules#metrics.2 */

export const BREAKER_STATES = Object.keys({
  closed: true,
  half_open: true,
  open: true,
} satisfies Record<BreakerState, true>) as readonly BreakerState[]

/** Origins of callbacks; `unreadable` ones did not arrive completely or were too large. */
export const CALLBACK_ORIGINS = [...ORIGINS, 'unreadable'] as const

export type CallbackOrigin = (typeof CALLBACK_ORIGINS)[number]

/**
 * Outcomes of the bank's events.
 * - `ignored`: contains no news.
 * - `queried`: the bank is queried.
 * - `unproven`: unproven, and names none of our operations.
 * - `contradicting`: stored beside an event that says otherwise.
 */
export const EVENT_OUTCOMES = [
  'applied',
  'ignored',
  'queried',
  'unproven',
  'parked',
  'retried',
  'quarantined',
  'given_up',
  'contradicting',
] as const

export type EventOutcome = (typeof EVENT_OUTCOMES)[number]

const ERASED = ['callbacks', 'notifications', 'deliveries', 'ended_operations'] as const

/**
 * Caches a reading and allows one at a time, however many callers there are.
 * @param forMs minimum interval of readings in milliseconds
 * @source rules#metrics.3, rules#health.9
 */
export function remembered<Reading>(
  read: () => Promise<Reading>,
  clock: Pick<Clock, 'now'>,
  forMs: number,
): () => Promise<Reading> {
  let readAt = Number.NEGATIVE_INFINITY
  let last: Promise<Reading> | undefined
  let isReading = false
  return () => {
    const now = clock.now()
    const isFresh = isReading || (now - readAt < forMs && now >= readAt)
    if (last !== undefined && isFresh) return last
    readAt = now
    isReading = true
    last = read().finally(() => {
      isReading = false
    })
    return last
  }
}

/**
 * Counters and timers of this process. Labels have few values each: a declared route, a kind, a state, never an id.
 * @source rules#metrics.1, rules#metrics.2
 */

/** Buckets in seconds, from fast answers to useless ones. */
const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

/** Creates the instruments behind the modules' observers. They never throw. @param bankCalls all calls of a bank */
export function createCounted(registry: Registry, bankCalls: readonly BankCall[]) {
  return {
    ...harmless(httpMetrics(registry)),
    ...harmless(secretMetrics(registry)),
    engine: harmless(engineMetrics(registry)),
    ...harmless(limitMetrics(registry)),
    ...harmless(bankMetrics(registry, bankCalls)),
    inbox: harmless(inboxMetrics(registry)),
    deliveries: harmless(deliveryMetrics(registry)),
    alerts: harmless(alertMetrics(registry)),
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
    help: 'Connections closed because their bytes could not be read as a request, by the status of the answer',
    labelNames: ['status'],
    registers: [registry],
  })
  for (const status of [400, 408, 431]) unreadable.inc({ status }, 0)
  const refused = new Counter({
    name: 'pixgate_credentials_refused_total',
    help: 'Refused API keys and operators’ tokens, by reason',
    labelNames: ['credential', 'reason'],
    registers: [registry],
  })
  for (const [credential, reasons] of Object.entries(REFUSAL_REASONS)) {
    for (const reason of reasons) refused.inc({ credential, reason }, 0)
  }
  const strangers = new Counter({
    name: 'pixgate_http_strangers_total',
    help: 'Connections closed and requests limited for lack of valid credentials; requests refused because valid ones hold too many connections',
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
    help: 'Requests that this process accepted with a previous secret, by its variable',
    labelNames: ['variable'],
    registers: [registry],
  })
  return { onPreviousSecretUsed: (variable: string) => uses.inc({ variable }) }
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
    help: 'Waiting time of commands for the engine of this process',
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
    help: 'Operations that this process created in a state or moved into it',
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
    help: 'Payouts and refunds that this process refused because of a limit, by limit and owner',
    labelNames: ['limit', 'owner'],
    registers: [registry],
  })
  return { onLimitExceeded: ({ name, owner }: ExceededLimit) => refusals.inc({ limit: name, owner }) }
}

function bankMetrics(registry: Registry, bankCalls: readonly BankCall[]) {
  const calls = new Histogram({
    name: 'pixgate_bank_call_duration_seconds',
    help: 'Finished calls to the bank, by call and outcome',
    labelNames: ['call', 'outcome'],
    buckets: SECONDS,
    registers: [registry],
  })
  // Exists from the start, so that the first increase is visible.
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
    help: 'Suspensions of payouts and refunds by this process because the bank and our books differ',
    registers: [registry],
  })
  return { onTrip: () => trips.inc() }
}

function inboxMetrics(registry: Registry) {
  const registers = [registry]
  const callbacks = new Counter({
    name: 'pixgate_inbox_callbacks_total',
    help: 'Callbacks that reached this process, by proof of their origin',
    labelNames: ['origin'],
    registers,
  })
  const events = new Counter({
    name: 'pixgate_inbox_outcomes_total',
    help: 'Processed events of the bank in this process, by outcome; a retried event counts each time',
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
    help: 'Attempts of this process to deliver a notification, by outcome',
    labelNames: ['outcome'],
    buckets: SECONDS,
    registers,
  })
  const ended = new Counter({
    name: 'pixgate_deliveries_ended_total',
    help: 'Deliveries that ended in this process: delivered, or failed after their last attempt',
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

function alertMetrics(registry: Registry) {
  const attempts = new Counter({
    name: 'pixgate_alert_attempts_total',
    help: 'Attempts of this process to send an alert to people, by kind of channel and outcome; given_up was the last one',
    labelNames: ['channel', 'outcome'],
    registers: [registry],
  })
  return { onAttempt: (channel: string, outcome: string) => attempts.inc({ channel, outcome }) }
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
    help: 'Rows whose personal data this process erased at the end of their retention',
    labelNames: ['what'],
    registers: [registry],
  })
  for (const what of ERASED) erased.inc({ what }, 0)
  return { onErased: (what: (typeof ERASED)[number], rows: number) => erased.inc({ what }, rows) }
}

function workerMetrics(registry: Registry) {
  const failures = new Counter({
    name: 'pixgate_worker_failures_total',
    help: 'Failed steps of the workers of this process, which are retried',
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

export interface Measured {
  engineWaiting(): number
  /** Backlog in the database, as far as it can be read. Must not throw. */
  backlog(): Promise<BacklogReading>
  /**
   * Time and result of the last verification of the ledger, or the start of the first attempt; `undefined` if this
   * process does not verify.
   */
  ledger(): { readonly at: number; readonly faults: number | undefined } | undefined
  audit(): { readonly at: number; readonly faults: number | undefined } | undefined
  breakers(): Readonly<Partial<Record<BreakerName, BreakerState>>>
  certificates(): readonly BankCertificate[]
  /** Reason why the database refuses writes, if it does. */
  writeProblem(): string | undefined
  pools(): Readonly<Record<string, { readonly inUse: number; readonly waiting: number }>>
  loopDelays(): { readonly p50Ms: number; readonly p99Ms: number; readonly longestMs: number }
}

/** @source rules#health.4, rules#metrics.1, rules#metrics.2, rules#metrics.6 */
export function createMeasured(
  registry: Registry,
  measured: Measured,
  clock: Pick<DatabaseClock, 'now' | 'skewMs'>,
): void {
  engineAndLedger(registry, measured)
  auditTrail(registry, measured)
  breakers(registry, measured)
  certificates(registry, measured)
  ofProcess(registry, measured, clock)
  backlog(registry, remembered(measured.backlog, clock, REMEMBERED_MS))
}

function engineAndLedger(registry: Registry, { engineWaiting, ledger }: Measured): void {
  figure(registry, 'pixgate_engine_waiting', 'Commands that wait for the engine of this process', engineWaiting)
  figure(
    registry,
    'pixgate_ledger_faults',
    'Faults that the last verification of the ledger found; operator action is required if not 0',
    () => ledger()?.faults,
  )
  figure(
    registry,
    'pixgate_ledger_verified_timestamp_seconds',
    'Last verification of the ledger by this process, or the start of its first attempt, in Unix seconds',
    () => inSeconds(ledger()?.at),
  )
}

function auditTrail(registry: Registry, { audit }: Measured): void {
  figure(
    registry,
    'pixgate_audit_faults',
    'Faults that the last verification of the audit trail found; operator action is required if not 0',
    () => audit()?.faults,
  )
  figure(
    registry,
    'pixgate_audit_verified_timestamp_seconds',
    'Last verification of the audit trail by this process, or the start of its first attempt, in Unix seconds',
    () => inSeconds(audit()?.at),
  )
}

/** A gauge of one figure. Unknown figures are omitted, since NaN would be a value. */
function figure(registry: Registry, name: string, help: string, read: () => number | undefined): void {
  new Gauge({
    name,
    help,
    registers: [registry],
    collect() {
      const value = read()
      if (value === undefined) this.remove()
      else this.set(value)
    },
  })
}

function inSeconds(ms: number | undefined): number | undefined {
  return ms === undefined ? undefined : ms / 1_000
}

function breakers(registry: Registry, measured: Measured): void {
  new Gauge({
    name: 'pixgate_bank_breaker_state',
    help: 'Circuit breakers of orders (payouts and refunds), charges and qr_codes: 1 for the current state',
    labelNames: ['breaker', 'state'],
    registers: [registry],
    collect() {
      for (const [breaker, current] of Object.entries(measured.breakers())) {
        for (const state of BREAKER_STATES) this.set({ breaker, state }, state === current ? 1 : 0)
      }
    },
  })
}

/** @source rules#partner.12 */
function certificates(registry: Registry, measured: Measured): void {
  new Gauge({
    name: 'pixgate_bank_certificate_expires_timestamp_seconds',
    help: 'Expiry of the certificates of the connection to the bank, by owner (bank, client, authority), in Unix seconds',
    labelNames: ['owner'],
    registers: [registry],
    collect() {
      this.reset()
      for (const { of, endsAt } of measured.certificates()) this.set({ owner: of }, endsAt / 1_000)
    },
  })
}

function ofProcess(
  registry: Registry,
  { pools, loopDelays, writeProblem }: Measured,
  clock: Pick<DatabaseClock, 'skewMs'>,
): void {
  const registers = [registry]
  figure(registry, 'pixgate_database_writable', 'Whether the database accepted the last write of this process', () =>
    writeProblem() === undefined ? 1 : 0,
  )
  figure(
    registry,
    'pixgate_clock_skew_seconds',
    "How far the clock of this machine is ahead of the database's; negative: behind it",
    () => inSeconds(clock.skewMs()),
  )
  const pool = (name: string, help: string, use: 'inUse' | 'waiting') =>
    new Gauge({
      name,
      help,
      labelNames: ['pool'],
      registers,
      collect() {
        for (const [of, used] of Object.entries(pools())) this.set({ pool: of }, used[use])
      },
    })
  pool('pixgate_database_connections_in_use', 'Connections in use, by pool', 'inUse')
  pool('pixgate_database_connections_waiting', 'Callers waiting for a connection, by pool', 'waiting')
  new Gauge({
    name: 'pixgate_event_loop_delay_seconds',
    help: 'Delay of the event loop of this process in the last minute: half, 99 percent and all are within p50, p99, max',
    labelNames: ['within'],
    registers,
    collect() {
      const { p50Ms, p99Ms, longestMs } = loopDelays()
      this.set({ within: 'p50' }, p50Ms / 1_000)
      this.set({ within: 'p99' }, p99Ms / 1_000)
      this.set({ within: 'max' }, longestMs / 1_000)
    },
  })
}

/** @source rules#metrics.3 */
const REMEMBERED_MS = 5_000

type Label = 'kind' | 'state'

/** Backlog gauges, two each: the count, and the age of the oldest. */
const WAITING: Readonly<
  Record<
    keyof Backlog,
    { readonly what: string; readonly names: readonly [count: string, age: string]; readonly labels: readonly Label[] }
  >
> = {
  cases: {
    what: 'Open cases, which require operator action',
    names: ['pixgate_cases_open', 'pixgate_cases_oldest_age_seconds'],
    labels: ['kind'],
  },
  operations: {
    what: 'Operations in progress',
    names: ['pixgate_operations', 'pixgate_operations_oldest_age_seconds'],
    labels: ['kind', 'state'],
  },
  events: {
    what: 'Events of the bank waiting to be applied',
    names: ['pixgate_inbox_events', 'pixgate_inbox_oldest_age_seconds'],
    labels: ['state'],
  },
  deliveries: {
    what: 'Pending deliveries, and notifications to fan out',
    names: ['pixgate_deliveries', 'pixgate_deliveries_oldest_age_seconds'],
    labels: ['state'],
  },
  endpoints: {
    what: 'Webhook endpoints by state: active, degraded (circuit breaker open) or paused; the age is that of the longest in it',
    names: ['pixgate_endpoints', 'pixgate_endpoints_oldest_age_seconds'],
    labels: ['state'],
  },
  late: {
    what: 'Unclaimed work overdue by more than a minute, for any reason',
    names: ['pixgate_work_late', 'pixgate_work_late_seconds'],
    labels: ['kind'],
  },
  suspended: {
    what: 'Whether payouts are suspended, by origin: operator, trip_wire, or restored (the database was restored)',
    names: ['pixgate_orders_suspended', 'pixgate_orders_suspended_seconds'],
    labels: ['kind'],
  },
  statement: {
    what: "Whether the bank's statement was ever read whole; the age is that of the last reading",
    names: ['pixgate_bank_statement_read', 'pixgate_bank_statement_age_seconds'],
    labels: [],
  },
  closes: {
    what: 'Closed days; the age counts from the end of the last one, or from the first booking',
    names: ['pixgate_closes', 'pixgate_close_age_seconds'],
    labels: [],
  },
}

const PARTS = Object.keys(WAITING) as readonly (keyof Backlog)[]

function backlog(registry: Registry, read: () => Promise<BacklogReading>): void {
  new Gauge({
    name: 'pixgate_database_up',
    help: 'Whether all figures of the database could be read; while 0, the others are omitted',
    registers: [registry],
    async collect() {
      const reading = await read()
      this.set(PARTS.every((part) => reading[part] !== undefined) ? 1 : 0)
    },
  })
  for (const of of PARTS) {
    const { what, names, labels } = WAITING[of]
    const gauge = (name: string, help: string, value: (count: Count) => number) =>
      new Gauge({
        name,
        help,
        labelNames: [...labels],
        registers: [registry],
        async collect() {
          const counts = (await read())[of] ?? []
          this.reset()
          for (const count of counts) this.set(labelsOf(count, labels), value(count))
        },
      })
    gauge(names[0], `${what}, of all processes; 10000 is that many or more`, ({ count }) => count)
    gauge(names[1], `Age of the oldest: ${what}`, ({ oldestSeconds }) => oldestSeconds ?? 0)
  }
}

function labelsOf(count: Count, names: readonly Label[]): Partial<Record<Label, string>> {
  return Object.fromEntries(names.map((name) => [name, count[name]]))
}

export interface Metrics extends ReturnType<typeof createCounted> {
  measure(measured: Measured, clock: Pick<DatabaseClock, 'now' | 'skewMs'>): void
  /** In the text format of Prometheus. */
  text(): Promise<string>
}

/**
 * Creates the metrics.
 * @param bankCalls all calls of a bank
 * @source rules#health.4, rules#metrics.5
 */
export function createMetrics(bankCalls: readonly BankCall[] = []): Metrics {
  const registry = new Registry()
  return {
    ...createCounted(registry, bankCalls),
    measure: (measured, clock) => createMeasured(registry, measured, clock),
    text: () => registry.metrics(),
  }
}
