export * from './attempts.ts'
export * from './dispatcher.ts'
export * from './inputs.ts'
