export * from './endpoints.ts'
export * from './machine.ts'
export { paymentUrl } from './shapes.ts'
