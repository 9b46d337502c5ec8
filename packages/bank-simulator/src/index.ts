import { type Book, openBook } from './book.ts'
import { startEventSender } from './events.ts'
import { createBank } from './routes.ts'

export type { Behavior } from './behavior.ts'
export type { Book, Charge } from './book.ts'

/** How a simulated bank is started. */
export interface SimulatorOptions {
  /** 0: any free one. Listens on loopback only. */
  readonly port: number
  /** Where its book is kept. */
  readonly dataDirectory: string
  /** The bearer token it asks for. */
  readonly token: string
  /** The HMAC secret of its events. */
  readonly secret: string
  /** The service's address. */
  readonly eventsUrl: string
}

/** A running bank. */
export interface Simulator {
  readonly url: string
  readonly port: number
  readonly book: Book
  /** Answers what is under way and closes the book. */
  stop(): Promise<void>
}

/** Starts a bank, with the book it had. */
export async function startSimulator(options: SimulatorOptions): Promise<Simulator> {
  const book = await openBook(options.dataDirectory)
  const { http, events } = createBank({
    book,
    token: options.token,
    events: (behavior) => startEventSender({ ...options, book, behavior }),
  })
  await http.listen({ host: '127.0.0.1', port: options.port })
  const { port } = http.server.address() as { port: number }
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    book,
    stop: async () => {
      await events.stop()
      http.server.closeAllConnections()
      await http.close()
      await book.close()
    },
  }
}
