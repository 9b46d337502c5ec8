export { createSandboxHandlers, type SandboxHandlers } from './routes.ts'
