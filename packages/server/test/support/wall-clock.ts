/**
 * The node's wall clock, epoch milliseconds. For stories that live at the real time, as the programs beside them do; a
 * test that has a fixed date of its own brings a clock of its own too.
 */
export function wallNow(): number {
  return Date.now()
}
