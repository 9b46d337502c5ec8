export * from './endpoints.ts'
export * from './machine.ts'
export { cashInDetail } from './shapes.ts'
