export { createHealthHandlers, type HealthHandlers } from './routes.ts'
