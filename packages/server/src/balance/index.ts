export { createBalanceHandlers } from './routes.ts'
