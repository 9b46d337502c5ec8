export * from './endpoints.ts'
export * from './machine.ts'
