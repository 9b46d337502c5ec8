import { Gauge, Registry } from 'prom-client'

/** What a metric is read from, at the moment it is asked for. */
export interface Measured {
  /** How many commands wait for the engine. */
  engineWaiting(): number
  /** How many cases are open. */
  openCases(): Promise<number>
  /** What the last verification of the ledger found; `undefined` before the first. */
  lastVerification(): { readonly at: number; readonly faults: number } | undefined
}

/** The metrics of this process. */
export interface Metrics {
  /** In the text format of Prometheus. */
  text(): Promise<string>
}

/**
 * Makes the metrics. Nothing is counted between two readings.
 * @source rules#health.4
 */
export function createMetrics({ engineWaiting, openCases, lastVerification }: Measured): Metrics {
  const registry = new Registry()
  const registers = [registry]
  new Gauge({
    name: 'pixgate_engine_waiting',
    help: 'Commands that wait for the engine of this process',
    registers,
    collect() {
      this.set(engineWaiting())
    },
  })
  new Gauge({
    name: 'pixgate_cases_open',
    help: 'Open cases, which require operator action, of all processes',
    registers,
    async collect() {
      // Whatever else is away, what this process knows by itself is told.
      this.set(await openCases().catch(() => Number.NaN))
    },
  })
  new Gauge({
    name: 'pixgate_ledger_faults',
    help: 'Faults that the last verification of the ledger found; operator action is required if not 0',
    registers,
    collect() {
      this.set(lastVerification()?.faults ?? Number.NaN)
    },
  })
  new Gauge({
    name: 'pixgate_ledger_verified_timestamp_seconds',
    help: 'When the ledger was verified last, in Unix seconds',
    registers,
    collect() {
      this.set((lastVerification()?.at ?? Number.NaN) / 1_000)
    },
  })
  return { text: () => registry.metrics() }
}
