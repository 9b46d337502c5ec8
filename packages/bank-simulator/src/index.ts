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

/** Options of {@link startSimulator}. */
export interface SimulatorOptions {
  /** 0: any free port. */
  readonly port: number
  /** Directory of the book, not shared with another bank. */
  readonly dataDirectory: string
  /** Address to listen on; loopback by default. */
  readonly host?: string
  /** Bearer token required on every request. */
  readonly token: string
  /** Secret that signs the events. */
  readonly secret: string
  /** Base URL of the service that receives the events. Without it they stay undelivered in the book. */
  readonly eventsUrl?: string
  /** Enables API Pix. */
  readonly apiPix?: ApiPixOptions
  /** Whether the account can be overdrawn; `true` by default. Otherwise payouts and refunds beyond the balance are refused. */
  readonly hasOverdraft?: boolean
  /** Whether a repeated order with the same id is executed only once; `true` by default. */
  readonly hasIdempotentOrders?: boolean
  /** Receives warnings for the operator; writes to standard error by default. */
  readonly warn?: (message: string) => void
  readonly clock?: Clock
  readonly chance?: Chance
}

/** A running simulated bank. */
export interface Simulator {
  readonly url: string
  readonly port: number
  /** The API Pix listeners, if enabled. */
  readonly apiPix?: ApiPix
  /** Read-only. Only the protocols and the controls change the book. */
  readonly book: Book
  /** Closes all connections, aborts work in progress (the book keeps it for the next start) and closes the book. */
  stop(): Promise<void>
}

/**
 * Opens the book, listens, and resumes deliveries and settlements of earlier runs.
 * @throws Error if the port is taken or the book cannot be read
 */
export async function startSimulator(options: SimulatorOptions): Promise<Simulator> {
  const { clock = systemClock, chance = systemChance, warn = warnOnStderr, secret, eventsUrl, token } = options
  const { host = '127.0.0.1', hasIdempotentOrders, hasOverdraft } = options
  const book = await Book.open(options.dataDirectory)
  const switchboard = new Switchboard()
  const liar = new Liar()
  const sender =
    eventsUrl === undefined
      ? undefined
      : new EventSender({ book, switchboard, liar, clock, chance, eventsUrl, secret, warn })
  const rules = { book, clock, chance, hasIdempotentOrders, hasOverdraft }
  const charges = new Charges(rules)
  const qrCodes = new QrCodes(rules)
  const payouts = new Payouts({ ...rules, qrCodes })
  const refunds = new Refunds(rules)
  const settlers = {
    chargeSettler: new Settler({ known: book.charges, operations: charges, clock, chance }),
    payoutSettler: new Settler({ known: book.payouts, operations: payouts, clock, chance }),
    refundSettler: new Settler({ known: book.refunds, operations: refunds, clock, chance }),
  }
  const bank = { book, charges, qrCodes, payouts, refunds, ...settlers, switchboard, liar, sender, clock, chance }
  const server = createServer(bank, token, warn)
  let apiPix: Awaited<ReturnType<typeof startApiPix>> | undefined
  async function stop(): Promise<void> {
    await Promise.all([server.close(), apiPix?.stop()])
    await Promise.all(Object.values(settlers).map((settler) => settler.stop()))
    await sender?.stop()
    await book.close()
  }

  try {
    if (options.apiPix) apiPix = await startApiPix(bank, options.apiPix, host, warn)
    await server.listen({ host, port: options.port })
  } catch (error) {
    await stop()
    throw error
  }
  if (sender) book.onEvent((event) => sender.deliver(event))
  for (const settler of Object.values(settlers)) settler.resume()
  const { port } = server.server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, port, ...(apiPix && { apiPix: apiPix.listening }), book, stop }
}

function warnOnStderr(message: string): void {
  process.stderr.write(`bank-simulator: ${message}\n`)
}
