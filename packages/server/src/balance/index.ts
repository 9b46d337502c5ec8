export { createBalanceHandlers } from './balance.ts'
