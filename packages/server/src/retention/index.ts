export { createErasing } from './retention.ts'
