export type { CallbackOrigin, EventOutcome } from './metrics.ts'
export { createMetrics, type Metrics } from './metrics.ts'
export { createHealthHandlers, type HealthHandlers, type ReadinessSources } from './routes.ts'
export { createHealthStore } from './store.ts'
export {
  clockProblem,
  createBacklogReader,
  createClockWatch,
  createOverdueWorkWatch,
  createWriteWatch,
  type WriteWatch,
} from './watches.ts'
