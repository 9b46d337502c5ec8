export { createMetrics, type Measured, type Metrics } from './metrics.ts'
export { createHealthHandlers, type HealthHandlers } from './routes.ts'
export { createHealthStore, type HealthStore } from './store.ts'
