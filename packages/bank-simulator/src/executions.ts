/**
 * Keys of executions for a bank without idempotent orders. Each repeated order is a separate execution with its own key
 * in the book; responses, events and entries have the service's id.
 */

/** Key of the next execution of an id. The first key is the id itself. */
export function nextExecution(id: string, known: ReadonlyMap<string, unknown>): string {
  for (let number = 1; ; number++) {
    const key = executionKey(id, number)
    if (!known.has(key)) return key
  }
}

/** Key of the last execution of an id, or the id if there is none. */
export function lastExecution(id: string, known: ReadonlyMap<string, unknown>): string {
  let last = id
  for (let number = 1; known.has(executionKey(id, number)); number++) last = executionKey(id, number)
  return last
}

/** Separates id and number by a space, which no id of the service contains. */
function executionKey(id: string, number: number): string {
  return number === 1 ? id : `${id} ${number}`
}
