export { createErasing, ERASE_EVERY_MS } from './jobs.ts'
