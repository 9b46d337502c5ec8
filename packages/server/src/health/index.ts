export { createMetrics } from './metrics.ts'
export { createHealthHandlers, type HealthHandlers, type ReadinessSources } from './routes.ts'
export { createHealthStore } from './store.ts'
