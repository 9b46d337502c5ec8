export { type BalanceHandlers, createBalanceHandlers } from './routes.ts'
