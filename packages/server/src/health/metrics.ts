import { Registry } from 'prom-client'
import type { BankCall } from '../banks/port.ts'
import type { DatabaseClock } from '../platform/clock.ts'
import { createCounted } from './counted.ts'
import { createMeasured, type Measured } from './measured.ts'

/** The metrics of this process: what modules tell of it, and a reading. */
export interface Metrics extends ReturnType<typeof createCounted> {
  /** Adds what is measured when it is asked for; once. */
  measure(measured: Measured, clock: Pick<DatabaseClock, 'now' | 'skewMs'>): void
  /** In the text format of Prometheus. */
  text(): Promise<string>
}

/**
 * Makes the metrics: what is counted is counted from now on.
 * @param bankCalls every call that a bank may be asked
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
