export { createDeskHandlers } from './routes.ts'
