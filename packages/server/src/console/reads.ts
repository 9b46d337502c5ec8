import { type ChangesNeeds, createChangesModule } from './changes.ts'
import { createDetailHandler, type DetailNeeds } from './detail.ts'
import { createListHandler } from './operations.ts'
import { createOverviewHandler, type OverviewNeeds } from './overview.ts'
import { createRecordHandlers, type RecordsNeeds } from './records.ts'
import { createSearchHandler } from './search.ts'

/** Reads of the console, on a pool of their own, so that no screen delays a payment. */

export interface ConsoleReadsNeeds extends DetailNeeds, OverviewNeeds, ChangesNeeds, RecordsNeeds {}

export function createConsoleReads(needs: ConsoleReadsNeeds) {
  const changes = createChangesModule(needs)
  return {
    handlers: {
      ...createListHandler(needs),
      ...createDetailHandler(needs),
      ...createSearchHandler(needs),
      ...createOverviewHandler(needs),
      ...createRecordHandlers(needs),
      ...changes.handlers,
    },
    /** Answers all waiting requests. */
    close: changes.close,
  }
}
