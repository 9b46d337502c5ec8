import type { TestContext } from 'node:test'
import { type Direction, type TcpProxy, tcpProxy, through } from './tcp-proxy.ts'
import type { WorldOptions } from './world.ts'

/** A service's way to its database, which can be interrupted. */
export interface DatabaseLink extends Required<Pick<WorldOptions, 'reach'>> {
  /** The database is away from now on. */
  interrupt(): void
  /** Away from when the next statement of this name, or its answer, is under way; that is lost. */
  interruptAt(name: string, lost: Direction): Promise<void>
  /** It is back. */
  restore(): void
  /** Lets every statement of this name wait. @returns what ends the waiting */
  hold(name: string): () => void
}

/** A link for a world that is made afterwards. */
export function databaseLink(t: TestContext): DatabaseLink {
  let proxy: TcpProxy
  const restore = () => {
    proxy.judge = () => 'pass'
  }
  const interrupt = () => {
    proxy.judge = () => 'cut'
    proxy.cutAll()
  }
  return {
    reach: async (databaseUrl) => {
      proxy = await tcpProxy(t, Number(new URL(databaseUrl).port))
      return through(proxy, databaseUrl)
    },
    interrupt,
    interruptAt: (name, lost) =>
      new Promise((resolve) => {
        const asking = new Set<number>()
        proxy.judge = (direction, bytes, connection) => {
          if (direction === 'request' && bytes.includes(name)) asking.add(connection)
          if (direction !== lost || !asking.has(connection)) return 'pass'
          interrupt()
          resolve()
          return 'cut'
        }
      }),
    restore,
    hold: (name) => {
      const { promise, resolve } = Promise.withResolvers<'pass'>()
      proxy.judge = (direction, bytes) => (direction === 'request' && bytes.includes(name) ? promise : 'pass')
      return () => {
        restore()
        resolve('pass')
      }
    },
  }
}
