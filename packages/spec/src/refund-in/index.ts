export * from './endpoints.ts'
export * from './machine.ts'
export type { RefundInOrigin } from './shapes.ts'
