export { createSandboxHandlers } from './routes.ts'
