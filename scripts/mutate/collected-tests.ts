/** Stands in for the test runner: collects tests instead of running them, so that they can be run again and again. */

/** A test as it was declared. */
export interface CollectedTest {
  readonly name: string
  readonly run: () => unknown
}

/** Every test that was declared since this was last emptied. */
export const collected: CollectedTest[] = []

/** Takes the place of `test` of `node:test`. */
export function test(name: string, ...rest: readonly unknown[]): void {
  const run = rest.find((it): it is () => unknown => typeof it === 'function')
  if (run) collected.push({ name, run })
}

// biome-ignore lint/style/noDefaultExport: node:test has one
export default test
