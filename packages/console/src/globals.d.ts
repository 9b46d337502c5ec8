/** V8's; the specification sets it. */
interface ErrorConstructor {
  stackTraceLimit: number
}
