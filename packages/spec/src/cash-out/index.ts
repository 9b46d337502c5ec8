export * from './endpoints.ts'
export * from './machine.ts'
export { cashOutDetail } from './shapes.ts'
