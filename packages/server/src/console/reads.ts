import { createDetailHandler, type DetailNeeds } from './detail.ts'
import { createListHandler } from './operations.ts'
import { createSearchHandler } from './search.ts'

/** Reads of the console, on a pool of their own, so that no screen delays a payment. */

export interface ConsoleReadsNeeds extends DetailNeeds {}

export function createConsoleReads(needs: ConsoleReadsNeeds) {
  return {
    handlers: {
      ...createListHandler(needs),
      ...createDetailHandler(needs),
      ...createSearchHandler(needs),
    },
  }
}
