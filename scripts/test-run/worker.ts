import { run } from 'node:test'
import { inspect } from 'node:util'
import { configureGlobal } from 'fast-check'
import { SEED } from '../../packages/server/test/support/seed.ts'
import { compileOnce } from './compile-once.ts'
import { observe } from './exercised.ts'

/**
 * Runs test files one after the other in this process and reports to the parent. Sharing a process saves each file the
 * start of Node.js, the modules of the server, compiled schemas and databases.
 */

/** The parent's order. */
export interface Order {
  readonly files: readonly string[]
  readonly namePattern?: string
}

/** What the worker reports. */
export type Report =
  | { readonly kind: 'started'; readonly file: string; readonly name: string }
  | {
      readonly kind: 'ended'
      readonly file: string
      readonly name: string
      readonly outcome: 'passed' | 'failed' | 'skipped'
      readonly durationMs: number
      /** The error with its stack, or the reason of the skip. */
      readonly text?: string
      /** It failed because its subtests did. */
      readonly isParent: boolean
      readonly isTopLevel: boolean
      /** CPU time of this process since the report before. */
      readonly cpuMs: number
    }
  | { readonly kind: 'note'; readonly file: string; readonly text: string }
  | { readonly kind: 'done'; readonly exercised: readonly string[] }

process.once('message', (order: Order) => void work(order))

async function work({ files, namePattern }: Order): Promise<void> {
  compileOnce()
  // Properties try the same values on every machine.
  configureGlobal({ seed: SEED })
  const exercised = observe()
  const tests = run({
    files: [...files],
    isolation: 'none',
    concurrency: 1,
    ...(namePattern !== undefined && { testNamePatterns: new RegExp(namePattern) }),
  })
  tests.on('test:dequeue', ({ name, file, nesting }) => {
    if (nesting === 0) report({ kind: 'started', file: file ?? '', name })
  })
  for (const type of ['test:pass', 'test:fail'] as const) {
    tests.on(type, ({ name, file, nesting, details, skip }) => {
      const { error } = details as { readonly error?: Error & { readonly failureType?: string } }
      report({
        kind: 'ended',
        file: file ?? '',
        name,
        outcome: skip ? 'skipped' : type === 'test:pass' ? 'passed' : 'failed',
        durationMs: details.duration_ms,
        isParent: details.type === 'suite' || error?.failureType === 'subtestsFailed',
        isTopLevel: nesting === 0,
        cpuMs: cpuMs(),
        ...(error && { text: inspect(error.cause ?? error) }),
        ...(typeof skip === 'string' && { text: skip }),
      })
    })
  }
  tests.on('test:diagnostic', ({ message, file, nesting }) => {
    if (nesting > 0 || file !== undefined) report({ kind: 'note', file: file ?? '', text: message })
  })
  for await (const _ of tests);
  process.send?.({ kind: 'done', exercised: [...exercised] } satisfies Report, () => process.exit())
}

let usedBefore = 0

function cpuMs(): number {
  const { user, system } = process.cpuUsage()
  const used = (user + system) / 1_000
  const difference = used - usedBefore
  usedBefore = used
  return difference
}

function report(event: Report): void {
  process.send?.(event)
}
