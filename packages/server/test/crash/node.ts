import type { TestContext } from 'node:test'
import { pino } from 'pino'
import { createService, type Service } from '../../src/app.ts'
import { readConfig } from '../../src/config.ts'
import { isOfUnavailability } from '../../src/platform/db/errors.ts'
import { realPause } from '../../src/platform/jobs/pause.ts'
import type { Environment } from '../../src/platform/variables.ts'
import type { SteppedClock } from '../support/stepped-clock.ts'
import { type TcpProxy, tcpProxy, through } from '../support/tcp-proxy.ts'
import { ENVIRONMENT } from '../support/world.ts'
import type { CrashBank } from './bank.ts'

/** From so much on payouts and decisions wait for other people. */
export const APPROVED_FROM_CENTS = 1_000_00

/** A service in this process, all of whose links lead through proxies: cut off from all of them it is as good as dead. */
export interface Node {
  /** Where merchants reach it. */
  readonly url: string
  /** The port of that address: the bank's events go there, too. */
  readonly port: number
  /** What it was started with. */
  readonly settings: Environment
  isDead(): boolean
  /** What was lost when it died: the link, which way, and what of it can be read. */
  lastWords(): string
  /** Lets it die with this piece under way, which is lost; counted from here. */
  dieAt(piece: number): void
  /** Does what is due, once. It may not resolve before a node that dies meanwhile wakes up. */
  work(): Promise<void>
  /** Closes the days that are over. It may not resolve either. */
  closeDays(): Promise<void>
  /** Gives a dead one its links back: it goes on with whatever it was about to do. */
  wake(): void
  stop(): Promise<void>
}

/** What nodes are started on. */
export interface Ground {
  readonly databaseUrl: string
  readonly bank: Pick<CrashBank, 'port' | 'environment'>
  readonly clock: SteppedClock
}

/** What a node's proxies go with. */
export type Lifetime = Pick<TestContext, 'after'>

/** Starts a node. */
export async function startNode(t: Lifetime, { databaseUrl, bank, clock }: Ground): Promise<Node> {
  const database = await tcpProxy(t, Number(new URL(databaseUrl).port))
  const bankLink = await tcpProxy(t, bank.port)
  const settings = {
    ...ENVIRONMENT,
    DATABASE_URL: through(database, databaseUrl),
    ...bank.environment(bankLink),
    PIXGATE_APPROVAL_FROM_CENTS: String(APPROVED_FROM_CENTS),
    PIXGATE_DESK_APPROVAL_FROM_CENTS: String(APPROVED_FROM_CENTS),
  }
  const service = await composed(settings, clock)
  await service.http.listen({ host: '127.0.0.1', port: 0 })
  const api = await tcpProxy(t, portOf(service))
  return nodeOf(service, settings, { database, bank: bankLink, api })
}

/** Composes it, again where a busy machine's database takes longer to connect than a service waits. */
async function composed(settings: Environment, clock: SteppedClock): Promise<Service> {
  const given = { clock, pause: realPause, random: () => 0.5, logger: pino({ level: 'silent' }) }
  for (;;) {
    try {
      return await createService({ ...given, config: readConfig(settings) })
    } catch (error) {
      ignoreUnavailable(error)
    }
  }
}

type Links = Readonly<Record<'database' | 'bank' | 'api', TcpProxy>>

function nodeOf(service: Service, settings: Environment, links: Links): Node {
  let [seen, last, isDead, lastWords] = [0, Number.POSITIVE_INFINITY, false, '']
  for (const [name, link] of Object.entries(links)) {
    link.judge = (direction, bytes) => {
      seen += 1
      if (!isDead && seen >= last) {
        isDead = true
        lastWords = `${name} ${direction}: ${readable(bytes)}`
        for (const other of Object.values(links)) other.cutAll()
      }
      return isDead ? 'cut' : 'pass'
    }
  }
  return {
    url: through(links.api),
    port: links.api.port,
    settings,
    isDead: () => isDead,
    lastWords: () => lastWords,
    dieAt: (piece) => {
      ;[seen, last] = [0, piece]
    },
    // A worker that could not reach the database tries again.
    work: () => service.processNext().catch(ignoreUnavailable),
    closeDays: () => service.closeDays().catch(ignoreUnavailable),
    wake: () => {
      ;[isDead, last] = [false, Number.POSITIVE_INFINITY]
    },
    stop: () => service.stop(),
  }
}

function ignoreUnavailable(error: unknown): void {
  if (!isOfUnavailability(error)) throw error
}

/** Long enough to tell which statement or request it was. */
const READABLE_LENGTH = 160

function readable(bytes: Buffer): string {
  return bytes
    .toString('latin1')
    .replaceAll(/[^ -~]+/g, ' ')
    .slice(0, READABLE_LENGTH)
}

function portOf({ http }: Service): number {
  const address = http.server.address()
  if (typeof address !== 'object' || address === null) throw new Error('the node listens on no port')
  return address.port
}
