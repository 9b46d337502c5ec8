import type { AddressInfo } from 'node:net'
import { Switchboard } from './behavior.ts'
import { Book } from './book.ts'
import { type Chance, systemChance } from './chance.ts'
import { createCharges } from './charges.ts'
import { type Clock, systemClock } from './clock.ts'
import { EventSender } from './sender.ts'
import { createServer } from './server.ts'

export type { Book, Charge } from './book.ts'
export type { Chance } from './chance.ts'
export type { Clock } from './clock.ts'

/** How a simulated bank is started. */
export interface SimulatorOptions {
  /** 0: any free one. */
  readonly port: number
  /** Where the book is kept, for this bank alone. */
  readonly dataDirectory: string
  /** The bearer token that every call must bear. */
  readonly token: string
  /** Signs the events. */
  readonly secret: string
  /** Base address of the service that takes the events. */
  readonly eventsUrl: string
  /** Gets what an operator should see; standard error by default. */
  readonly warn?: (message: string) => void
  readonly clock?: Clock
  readonly chance?: Chance
}

/** A running simulated bank. */
export interface Simulator {
  readonly url: string
  readonly port: number
  /** To be read; what changes it are the protocol and the controls. */
  readonly book: Book
  /** Closes every connection, gives up events under way (the book keeps them) and closes the book. */
  stop(): Promise<void>
}

/**
 * Opens the book, listens on loopback, and then delivers what an earlier run left undelivered.
 * @throws Error where the port is taken or the book cannot be read
 */
export async function startSimulator(options: SimulatorOptions): Promise<Simulator> {
  const { clock = systemClock, chance = systemChance, warn = warnOnStderr, secret, eventsUrl, token } = options
  const book = await Book.open(options.dataDirectory)
  const switchboard = new Switchboard()
  const sender = new EventSender({ book, switchboard, clock, chance, eventsUrl, secret, warn })
  const charges = createCharges({ book, clock, chance })
  const server = createServer({ book, charges, switchboard, sender, clock }, token, warn)
  async function stop(): Promise<void> {
    await server.close()
    await sender.stop()
    await book.close()
  }

  try {
    await server.listen({ host: '127.0.0.1', port: options.port })
  } catch (error) {
    await stop()
    throw error
  }
  book.onEvent((event) => sender.deliver(event))
  const { port } = server.server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, port, book, stop }
}

function warnOnStderr(message: string): void {
  process.stderr.write(`bank-simulator: ${message}\n`)
}
