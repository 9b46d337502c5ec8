/**
 * Runs code that only observes and discards its errors: reporting must not fail a payment, and there is nowhere left to
 * report to.
 * @source rules#logs.2
 */
export function withoutFault(watch: () => void): void {
  try {
    watch()
  } catch {
    // Discarded: see above.
  }
}

type Observer = Readonly<Record<string, (...given: never[]) => void>>

/** Wraps an observer so that its errors are discarded. @source rules#logs.2 */
export function harmless<Given extends Observer>(observer: Given): Given {
  const methods = Object.entries(observer).map(([name, method]) => [
    name,
    // Does not use `withoutFault`, which would allocate a function per call: some observers run for each request.
    (...given: never[]) => {
      try {
        method(...given)
      } catch {
        // Discarded, as above.
      }
    },
  ])
  return Object.fromEntries(methods)
}
