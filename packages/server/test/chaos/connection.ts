import { join } from 'node:path'
import { certificatesIn } from '../../../bank-simulator/src/api-pix/certificates.ts'
import type { BankBook } from '../support/process-world.ts'
import { LISTENING, standardBank } from '../support/standard-bank.ts'
import { wallNow } from '../support/wall-clock.ts'
import { PARTNER_SECRET, PARTNER_TOKEN } from '../support/world.ts'
import { type BankKind, type ConnectorName, isIdempotent } from './plan.ts'

/** How the bank and the service of a fleet are connected: what each is told, and how the bank speaks of what is ours. */
export interface Connection {
  /** Variables of the bank's process. */
  readonly bank: Readonly<Record<string, string>>
  /** Variables of the service's processes. */
  readonly service: Readonly<Record<string, string>>
  /** Tells the bank where to call, once it and the service run, where the service's settings do not. @throws Error where it does not take it */
  register(settings: Readonly<Record<string, string>>): Promise<void>
  /** What it has still to tell. */
  undelivered(book: Pick<BankBook, 'events' | 'notices'>): number
}

/** What a connection is made of. */
export interface ConnectionOptions {
  readonly connector: ConnectorName
  readonly bankKind: BankKind
  readonly directory: string
  /** Where the bank's controls are, and our own protocol. */
  readonly bankUrl: string
  /** A free one, for API Pix. */
  readonly apiPixPort: number
  /** Where the service takes what the bank tells. */
  readonly eventsUrl: string
}

const CREDENTIALS = { PIXGATE_PARTNER_TOKEN: PARTNER_TOKEN, PIXGATE_PARTNER_SECRET: PARTNER_SECRET } as const

/** So long one call to the bank may take: it is killed and stopped all the time. */
const TIMEOUT_MS = '1000'

/** Makes it. At Efí it also makes the certificates, which the service reads when it starts. */
export function connectionOf(options: ConnectionOptions): Promise<Connection> {
  return options.connector === 'efi' ? standardConnection(options) : Promise.resolve(ownConnection(options))
}

function ownConnection({ bankKind, bankUrl, eventsUrl }: ConnectionOptions): Connection {
  const orders = { PIXGATE_PARTNER_IDEMPOTENT_ORDERS: String(isIdempotent(bankKind)) }
  return {
    bank: { ...CREDENTIALS, ...orders, PIXGATE_SIMULATOR_EVENTS_URL: eventsUrl },
    service: { ...CREDENTIALS, ...orders, PIXGATE_PARTNER_URL: bankUrl, PIXGATE_PARTNER_TIMEOUT_MS: TIMEOUT_MS },
    register: async () => undefined,
    undelivered: ({ events }) => events.pending.length,
  }
}

async function standardConnection(options: ConnectionOptions): Promise<Connection> {
  const { directory, bankKind, apiPixPort, eventsUrl } = options
  const certificates = join(directory, 'certificates')
  const { files } = await certificatesIn(certificates, LISTENING)
  const { environment, registerWebhook } = standardBank('efi', eventsUrl)
  const orders = String(isIdempotent(bankKind))
  return {
    bank: {
      ...CREDENTIALS,
      PIXGATE_PARTNER_IDEMPOTENT_ORDERS: orders,
      PIXGATE_SIMULATOR_API_PIX_PORT: String(apiPixPort),
      PIXGATE_SIMULATOR_CERTIFICATES_DIR: certificates,
    },
    service: {
      ...(environment({ url: `https://localhost:${apiPixPort}`, files }) as Record<string, string>),
      PIXGATE_BANK_IDEMPOTENT_ORDERS: orders,
      PIXGATE_BANK_TIMEOUT_MS: TIMEOUT_MS,
    },
    register: (settings) => registerWebhook(settings, { now: wallNow }),
    undelivered: ({ notices }) => notices.pending,
  }
}
