import type { AddressInfo } from 'node:net'
import { type ApiPix, type ApiPixOptions, startApiPix } from './api-pix/start.ts'
import { Switchboard } from './behavior.ts'
import { Book } from './book.ts'
import { type Chance, systemChance } from './chance.ts'
import { Charges } from './charges.ts'
import { type Clock, systemClock } from './clock.ts'
import { Liar } from './lies.ts'
import { Payouts } from './payouts.ts'
import { QrCodes } from './qr-codes.ts'
import { Refunds } from './refunds.ts'
import { EventSender } from './sender.ts'
import { createServer } from './server.ts'
import { Settler } from './settler.ts'

export { type Credential, createAuthority } from './api-pix/authority.ts'
export type { Exchange } from './api-pix/server.ts'
export type { ApiPix, ApiPixOptions } from './api-pix/start.ts'
export type { Book } from './book.ts'
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
  /** Base address of the service that takes the events; without it they stay in the book. */
  readonly eventsUrl?: string
  /** The bank also listens for API Pix. */
  readonly apiPix?: ApiPixOptions
  /** Whether the same order under the same id is carried out once; `true` by default. */
  readonly hasIdempotentOrders?: boolean
  /** Gets what an operator should see; standard error by default. */
  readonly warn?: (message: string) => void
  readonly clock?: Clock
  readonly chance?: Chance
}

/** A running simulated bank. */
export interface Simulator {
  readonly url: string
  readonly port: number
  /** Where it listens for API Pix, if it does. */
  readonly apiPix?: ApiPix
  /** To be read; what changes it are the protocol and the controls. */
  readonly book: Book
  /** Closes every connection, gives up what is under way (the book keeps it) and closes the book. */
  stop(): Promise<void>
}

/**
 * Opens the book, listens on loopback, and then goes on with what an earlier run left undelivered or unsettled.
 * @throws Error where the port is taken or the book cannot be read
 */
export async function startSimulator(options: SimulatorOptions): Promise<Simulator> {
  const { clock = systemClock, chance = systemChance, warn = warnOnStderr, secret, eventsUrl, token } = options
  const { hasIdempotentOrders } = options
  const book = await Book.open(options.dataDirectory)
  const switchboard = new Switchboard()
  const liar = new Liar()
  const sender =
    eventsUrl === undefined
      ? undefined
      : new EventSender({ book, switchboard, liar, clock, chance, eventsUrl, secret, warn })
  const rules = { book, clock, chance }
  const charges = new Charges(rules)
  const qrCodes = new QrCodes(rules)
  const payouts = new Payouts({ ...rules, qrCodes, hasIdempotentOrders })
  const refunds = new Refunds({ ...rules, hasIdempotentOrders })
  const payoutSettler = new Settler({ accepted: book.payouts, orders: payouts, clock, chance })
  const refundSettler = new Settler({ accepted: book.refunds, orders: refunds, clock, chance })
  const settlers = { payoutSettler, refundSettler }
  const bank = { book, charges, qrCodes, payouts, refunds, ...settlers, switchboard, liar, sender, clock, chance }
  const server = createServer(bank, token, warn)
  let apiPix: Awaited<ReturnType<typeof startApiPix>> | undefined
  async function stop(): Promise<void> {
    await Promise.all([server.close(), apiPix?.stop()])
    await Promise.all([payoutSettler.stop(), refundSettler.stop()])
    await sender?.stop()
    await book.close()
  }

  try {
    if (options.apiPix) apiPix = await startApiPix(bank, options.apiPix, warn)
    await server.listen({ host: '127.0.0.1', port: options.port })
  } catch (error) {
    await stop()
    throw error
  }
  if (sender) book.onEvent((event) => sender.deliver(event))
  payoutSettler.resume()
  refundSettler.resume()
  const { port } = server.server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, port, ...(apiPix && { apiPix: apiPix.listening }), book, stop }
}

function warnOnStderr(message: string): void {
  process.stderr.write(`bank-simulator: ${message}\n`)
}
