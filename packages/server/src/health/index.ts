export { createMetrics } from './metrics.ts'
export { createHealthHandlers, type HealthHandlers } from './routes.ts'
export { createHealthStore } from './store.ts'
