/**
 * How a bank without idempotent orders keeps what it was told twice: each order is an execution of its own, under a key
 * of the book; the id in its answers, events and entries is the service's.
 */

/** The key of the next execution of an id: the id itself the first time. */
export function nextExecution(id: string, known: ReadonlyMap<string, unknown>): string {
  for (let number = 1; ; number++) {
    const key = executionKey(id, number)
    if (!known.has(key)) return key
  }
}

/** The key of the last execution of an id; the id where there is none. */
export function lastExecution(id: string, known: ReadonlyMap<string, unknown>): string {
  let last = id
  for (let number = 1; known.has(executionKey(id, number)); number++) last = executionKey(id, number)
  return last
}

/** No id of the service has a space. */
function executionKey(id: string, number: number): string {
  return number === 1 ? id : `${id} ${number}`
}
