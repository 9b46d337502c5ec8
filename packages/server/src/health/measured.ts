import { Gauge, type Registry } from 'prom-client'
import type { BreakerName, BreakerState } from '../banks/breaker.ts'
import type { BankCertificate } from '../banks/certificates.ts'
import type { DatabaseClock } from '../platform/clock.ts'
import type { BacklogReading } from './backlog.ts'
import { BREAKER_STATES } from './labels.ts'
import { remembered } from './remembered.ts'
import type { Backlog, Count } from './store.ts'

/** What is measured in the moment in which it is asked for. */
export interface Measured {
  /** How many commands wait for the engine. */
  engineWaiting(): number
  /** What waits in the database, as far as that can be read. Throws nothing. */
  backlog(): Promise<BacklogReading>
  /** When this process verified the ledger last, or began to try, and what it found; `undefined` where it does not verify. */
  ledger(): { readonly at: number; readonly faults: number | undefined } | undefined
  /** The same of the audit trail. */
  audit(): { readonly at: number; readonly faults: number | undefined } | undefined
  /** Where each breaker in front of the bank stands, by what it holds back. */
  breakers(): Readonly<Partial<Record<BreakerName, BreakerState>>>
  /** Until when the certificates are good that count when the bank is called, as far as this process knows them. */
  certificates(): readonly BankCertificate[]
  /** Why the database does not take what is written; `undefined` where it does. */
  writeProblem(): string | undefined
  /** How the connections of each pool are used. */
  pools(): Readonly<Record<string, { readonly inUse: number; readonly waiting: number }>>
  /** How late the event loop was in the last minute. */
  loopDelays(): { readonly p50Ms: number; readonly p99Ms: number; readonly longestMs: number }
}

/**
 * Makes the gauges of a registry.
 * @source rules#health.4, rules#metrics.1, rules#metrics.2, rules#metrics.6
 */
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
    'When this process verified the ledger last, or else when it began to try, in Unix seconds',
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
    'When this process verified the audit trail last, or else when it began to try, in Unix seconds',
    () => inSeconds(audit()?.at),
  )
}

/** A gauge of one figure. What a process does not know is no figure of it: not a number would be one. */
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
    help: 'Where the breaker stands that holds back orders (payouts and refunds), charges or qr_codes: 1 at its state',
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
    help: 'Until when a certificate is good that counts when the bank is called, by whose it is (bank, client, authority), in Unix seconds',
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
  figure(registry, 'pixgate_database_writable', 'Whether the database took what this process wrote last', () =>
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
  pool('pixgate_database_connections_in_use', 'Connections that are lent, by pool', 'inUse')
  pool('pixgate_database_connections_waiting', 'Who waits for a connection, by pool', 'waiting')
  new Gauge({
    name: 'pixgate_event_loop_delay_seconds',
    help: 'How late the event loop of this process was in the last minute, by quantile; 1 is the longest',
    labelNames: ['quantile'],
    registers,
    collect() {
      const { p50Ms, p99Ms, longestMs } = loopDelays()
      this.set({ quantile: '0.5' }, p50Ms / 1_000)
      this.set({ quantile: '0.99' }, p99Ms / 1_000)
      this.set({ quantile: '1' }, longestMs / 1_000)
    },
  })
}

/** @source rules#metrics.3 */
const REMEMBERED_MS = 5_000

type Label = 'kind' | 'state'

/** What waits: two gauges each, how many and how long the oldest. */
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
    what: 'Operations that have not ended',
    names: ['pixgate_operations', 'pixgate_operations_oldest_age_seconds'],
    labels: ['kind', 'state'],
  },
  events: {
    what: 'Events of the bank that wait',
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
    what: 'Work that was due more than a minute ago and that nobody has taken up, whatever the reason',
    names: ['pixgate_work_late', 'pixgate_work_late_seconds'],
    labels: ['kind'],
  },
  suspended: {
    what: 'Whether payouts are suspended, by who ordered it last: the operator, the trip_wire, or the database’s being restored',
    names: ['pixgate_orders_suspended', 'pixgate_orders_suspended_seconds'],
    labels: ['kind'],
  },
  statement: {
    what: "Whether the bank's statement was ever read whole; the age is that of the last reading",
    names: ['pixgate_bank_statement_read', 'pixgate_bank_statement_age_seconds'],
    labels: [],
  },
  closes: {
    what: 'Days that are closed; the age is since the last of them ended, or since money was first booked',
    names: ['pixgate_days_closed', 'pixgate_days_closed_age_seconds'],
    labels: [],
  },
}

const PARTS = Object.keys(WAITING) as readonly (keyof Backlog)[]

function backlog(registry: Registry, read: () => Promise<BacklogReading>): void {
  new Gauge({
    name: 'pixgate_database_up',
    help: 'Whether all figures of the database could be read: while it is 0 those that could not are left out',
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
    gauge(names[1], `How long the oldest has waited: ${what}`, ({ oldestSeconds }) => oldestSeconds ?? 0)
  }
}

function labelsOf(count: Count, names: readonly Label[]): Partial<Record<Label, string>> {
  return Object.fromEntries(names.map((name) => [name, count[name]]))
}
