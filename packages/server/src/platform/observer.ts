/**
 * Does what only watches. What it throws goes no further, and is told to nobody, as telling is what failed: nothing that
 * is merely reported may fail a payment.
 * @source rules#logs.2
 */
export function withoutFault(watch: () => void): void {
  try {
    watch()
  } catch {
    // See above.
  }
}

/** Anything that is only told of what happens. */
type Observer = Readonly<Record<string, (...told: never[]) => void>>

/** An observer whose faults go no further. @source rules#logs.2 */
export function harmless<Given extends Observer>(observer: Given): Given {
  const methods = Object.entries(observer).map(([name, method]) => [
    name,
    // Not by way of `withoutFault`: some are told of each request, and it would be a function more for each.
    (...told: never[]) => {
      try {
        method(...told)
      } catch {
        // As there.
      }
    },
  ])
  return Object.fromEntries(methods)
}
