export { createLateWorkWatch } from './late-work.ts'
export { createMetrics, type Metrics } from './metrics.ts'
export { clockProblem, createHealthHandlers, type HealthHandlers, type ReadinessSources } from './routes.ts'
export { createHealthStore } from './store.ts'
