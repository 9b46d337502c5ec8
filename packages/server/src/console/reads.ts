import { type BooksNeeds, createBooksHandlers } from './books.ts'
import { type ChangesNeeds, createChanges } from './changes.ts'
import { createDetailHandler, type DetailNeeds } from './detail.ts'
import { createListHandler } from './operations.ts'
import { createOverviewHandlers, type OverviewNeeds } from './overview.ts'
import { createSearchHandler } from './search.ts'
import { createSystemHandlers, type SystemNeeds } from './system.ts'

/** Reads of the console, on a pool of their own, so that no screen delays a payment. */

export interface ConsoleReadsNeeds extends DetailNeeds, OverviewNeeds, BooksNeeds, ChangesNeeds, SystemNeeds {}

export function createConsoleReads(needs: ConsoleReadsNeeds) {
  const changes = createChanges(needs)
  return {
    handlers: {
      ...createListHandler(needs),
      ...createDetailHandler(needs),
      ...createSearchHandler(needs),
      ...createOverviewHandlers(needs),
      ...createBooksHandlers(needs),
      ...createSystemHandlers(needs),
      ...changes.handlers,
    },
    /** Answers all waiting requests. */
    close: changes.close,
  }
}
