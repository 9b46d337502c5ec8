export * from './attempts.ts'
export * from './dispatcher.ts'
