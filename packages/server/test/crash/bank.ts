import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { type Clock as BankClock, startSimulator } from '@pixgate/bank-simulator'
import type { Database } from '../../src/platform/db/database.ts'
import type { Environment } from '../../src/platform/variables.ts'
import { bookAt } from '../support/bank-book.ts'
import { underOrderIds } from '../support/order-ids.ts'
import { ask, type BankBook } from '../support/process-world.ts'
import { certificatesDirectory, standardBank } from '../support/standard-bank.ts'
import type { SteppedClock } from '../support/stepped-clock.ts'
import { type TcpProxy, tcpProxy, through } from '../support/tcp-proxy.ts'
import { type Answer, PARTNER_SECRET, PARTNER_TOKEN } from '../support/world.ts'

/** How nodes are connected to the bank, and what it is like. */
export interface BankOptions {
  /** In which its order ids stand. */
  readonly database: Database
  /** Our own protocol by default. */
  readonly connector?: ConnectorName
  readonly hasIdempotentOrders?: boolean
}

/** The connectors that a process can die beside. */
export type ConnectorName = 'pixgate' | 'api-pix' | 'efi'

/** The simulated bank of a crash world. */
export interface CrashBank {
  /** The port that nodes are connected to. */
  readonly port: number
  /** Where what it tells by itself goes. */
  readonly events: TcpProxy
  /** What connects a node that reaches the bank by this proxy. */
  environment(link: TcpProxy): Environment
  /** Tells the bank where to call, where it has to be told. @param settings of a node that runs */
  register(settings: Environment): Promise<void>
  /** Uses a control. */
  control(path: string, body?: object, method?: 'POST' | 'PUT'): Promise<Answer['body']>
  /** Its own account of what happened, under our ids. */
  book(): Promise<BankBook>
  /** Whether it tells of all that moves. Efí says nothing of what comes back of a payout: its list has it. */
  readonly tellsAll: boolean
  /** What it has still to do, and to tell. */
  left(): Promise<readonly string[]>
  /** Where it is one of the standard: that all it was asked and answered is as the documents have it. */
  assertOfTheStandard(): void
}

/** The bank waits so many times faster than it says. */
const BANK_SPEED = 100

/** Starts it; it goes with the test. */
export async function startBank(t: TestContext, clock: SteppedClock, options: BankOptions): Promise<CrashBank> {
  const { connector = 'pixgate', database, ...conduct } = options
  const directory = await mkdtemp(join(tmpdir(), 'pixgate-crash-world-'))
  const events = await tcpProxy(t, 0)
  const standard = connector === 'pixgate' ? undefined : standardBank(connector, through(events))
  const sleep: BankClock['sleep'] = (ms, signal) =>
    delay(ms / BANK_SPEED, undefined, { ref: false, ...(signal && { signal }) })
  const { url, port, apiPix, stop } = await startSimulator({
    ...{ port: 0, dataDirectory: directory, token: PARTNER_TOKEN, secret: PARTNER_SECRET },
    ...(standard
      ? { apiPix: { ...standard.listening, certificatesDirectory: await certificatesDirectory() } }
      : { eventsUrl: through(events) }),
    clock: { now: clock.now, sleep },
    warn: () => undefined,
    ...conduct,
  })
  t.after(async () => {
    await stop()
    await rm(directory, { recursive: true, force: true })
  })
  const book = () => bookAt(url, database)
  return {
    port: apiPix?.port ?? port,
    events,
    environment: (link) =>
      standard && apiPix
        ? { ...standard.environment({ ...apiPix, url: through(link, apiPix.url) }), PIXGATE_BANK_PAYS_QR_CODES: 'true' }
        : { PIXGATE_PARTNER_URL: through(link) },
    register: async (settings) => standard?.registerWebhook(settings, clock),
    control: async (path, body = {}, method = 'POST') => {
      const answer = await ask(`${url}/control/${await underOrderIds(database, path)}`, PARTNER_TOKEN, method, body)
      assert.ok(answer && answer.status < 300, JSON.stringify(answer?.body))
      return answer.body
    },
    book,
    tellsAll: connector !== 'efi',
    left: async () => unfinishedAt(await book(), standard !== undefined),
    assertOfTheStandard: () => standard?.assertOfTheStandard(),
  }
}

/** At a bank of the standard nobody takes the events of our own protocol: they stay in its book. */
function unfinishedAt({ events, notices, payouts, refunds }: BankBook, isOfTheStandard: boolean): readonly string[] {
  const underWay = [...payouts, ...refunds].filter(({ status }) => status === 'PROCESSING').map(({ id }) => id)
  if (isOfTheStandard) return [...underWay, ...(notices.pending > 0 ? [`${notices.pending} callbacks`] : [])]
  return [...underWay, ...events.pending.map((event) => JSON.stringify(event))]
}
