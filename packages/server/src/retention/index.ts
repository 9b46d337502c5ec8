export { createErasing, ERASE_EVERY_MS } from './retention.ts'
