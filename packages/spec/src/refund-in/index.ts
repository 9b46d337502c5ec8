export * from './endpoints.ts'
export * from './machine.ts'
export { type RefundInOrigin, refundInDetail, refundInOrigins } from './shapes.ts'
