import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { type ApiPix, type Clock as BankClock, startSimulator } from '@pixgate/bank-simulator'
import { type BankBehaviorChange, eventTypes } from '@pixgate/spec'
import { pino } from 'pino'
import { sandboxControls } from '../../../sandbox/src/controls/routes.ts'
import { createService, type Dependencies, type Service } from '../../src/app.ts'
import type { Bank } from '../../src/banks/bank.ts'
import { openPartnerLink } from '../../src/banks/link.ts'
import { pixgateBankConfig, pixgateBankVariables } from '../../src/banks/pixgate/config.ts'
import { readConfig } from '../../src/config.ts'
import type { Database } from '../../src/platform/db/database.ts'
import { listeningUrl } from '../../src/platform/http/server.ts'
import { realPause } from '../../src/platform/jobs/pause.ts'
import type { Logger } from '../../src/platform/log.ts'
import { type Environment, readVariables } from '../../src/platform/variables.ts'
import { headerFaults } from '../fuzz/header-faults.ts'
import { assertBooks, balances } from './books.ts'
import { testDatabase } from './database.ts'
import { declaredHeaders } from './declared-headers.ts'
import { orderIdOf, underOrderIds, underOurIds } from './order-ids.ts'
import { testPort } from './port.ts'
import { startOurReceiver } from './published-events.ts'
import { certificatesDirectory, standardBank } from './standard-bank.ts'
import { type SteppedClock, steppedClock } from './stepped-clock.ts'
import { poll } from './until.ts'
import type { Receiver } from './webhook-receiver.ts'

/**
 * A merchant, a gateway and a bank, for stories: the whole service over real HTTP on a real database, the simulated bank
 * over real HTTP, and a plain server that takes notifications. Time is stepped, never waited for.
 */

/** An answer of the API. */
export interface Answer {
  readonly status: number
  readonly headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: a test knows what it asked for, and asserts on it.
  readonly body: any
}

/** The parts of a story. */
export interface World {
  readonly url: string
  /** Where the operator's endpoints are: the same, unless they have a port of their own. */
  readonly operatorUrl: string
  readonly bankUrl: string
  /** Of its face of the standard, where it has one. */
  readonly apiPixUrl: string | undefined
  readonly apiKey: string
  readonly service: Service
  readonly database: Database
  readonly databaseUrl: string
  readonly clock: SteppedClock
  readonly receiver: Receiver
  /** Calls the API as the merchant. */
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>
  /** Calls the simulated bank's controls. An id of ours in the path or in an event is sent as the order id; the book has it the other way. */
  bank(method: string, path: string, body?: unknown): Promise<Answer>
  /** Creates a charge and returns the 201. */
  charge(value: string, more?: Record<string, unknown>): Promise<Answer['body']>
  /** Creates a charge, pays it, and returns its detail once it is booked. */
  paid(value: string, more?: Record<string, unknown>): Promise<Answer['body']>
  /** Adds so much to the merchant's balance, less the fee of a cash-in: by a paid charge. */
  balance(cents: number): Promise<void>
  /** Sends 30 reais, or what is said here, to a Pix key, and returns the 201. */
  cashOut(transaction?: Record<string, unknown>, recipient?: Record<string, unknown>): Promise<Answer['body']>
  /** Refunds so many reais of a cash-in and returns the 201. */
  refundIn(cashInId: string, refundValue: number, more?: Record<string, unknown>): Promise<Answer['body']>
  /** Posts to a control of the simulated bank, such as `payouts/{id}/confirm`, and returns the 202. */
  bankAction(path: string, body?: unknown): Promise<Answer['body']>
  /** The id at the bank of an operation. */
  orderIdOf(id: string): Promise<string>
  /** Changes how the simulated bank behaves. */
  behave(change: BankBehaviorChange): Promise<void>
  /** Reads what is there. */
  get(path: string): Promise<Answer['body']>
  /** Reads until this holds; in a world without workers, what is due is done before each look. */
  until(path: string, holds: (body: Answer['body']) => boolean): Promise<Answer['body']>
  /** The detail of a cash-in as it stands. */
  read(id: string): Promise<Answer['body']>
  /** Resolves with the detail of a cash-in as soon as it has this status. */
  becomes(id: string, status: string): Promise<Answer['body']>
  /** Does what is due: for a world without workers. */
  work(): Promise<void>
  /** Puts the clock forward, then does what is due: for a world without workers. */
  later(ms: number): Promise<void>
  /** Our books against all invariants and against the bank's own. */
  assertBooksAgree(): Promise<void>
}

export const PARTNER_TOKEN = 'partner-token-of-the-tests-0123456789'
export const PARTNER_SECRET = 'partner-secret-of-the-tests-0123456789'
export const ADMIN_TOKEN = 'admin-token-of-the-tests-0123456789abcdef'
export const ENCRYPTION_KEY = 'encryption-key-of-the-tests-0123456789'

/** What the simulated bank of the tests is started with, on any free port. */
const BANK_PROOFS = { port: 0, token: PARTNER_TOKEN, secret: PARTNER_SECRET } as const

/** What every service of the tests is configured with, besides its database and its bank. */
export const ENVIRONMENT = {
  PIXGATE_ADMIN_TOKEN: ADMIN_TOKEN,
  PIXGATE_ENCRYPTION_KEY: ENCRYPTION_KEY,
  PIXGATE_PARTNER_TOKEN: PARTNER_TOKEN,
  PIXGATE_PARTNER_SECRET: PARTNER_SECRET,
  PIXGATE_LOG_LEVEL: 'silent',
  PIXGATE_RATE_LIMIT_PER_MINUTE: '0',
  PIXGATE_DESK_APPROVAL_FROM_CENTS: '100000',
} as const

/** In what a world differs from the ordinary one. */
export interface WorldOptions {
  /** No workers, and a clock that stands: due work is done by {@link World.later} and by nothing else. */
  readonly isStepped?: boolean
  /** Where the bank is, instead of the simulated one. */
  readonly bankUrl?: string
  /** Another connector than the simulated bank's; it may be made of that. */
  readonly bank?: (simulated: Bank) => Bank
  /** The simulated bank is connected by the Central Bank's standard, or as Efí is. */
  readonly standard?: 'api-pix' | 'efi'
  /** How it is reached then, where not straight. */
  readonly reachBank?: (apiPix: ApiPix) => string
  /** Another time at the simulated bank than here. */
  readonly bankClock?: BankClock
  /** How the service reaches the database of the test, at this address as its owner. */
  readonly reach?: (databaseUrl: string) => Promise<string>
  readonly logger?: Logger
}

/** Calls the bank as stories do, which name operations by their public ids. */
function bankUnderOurIds(database: Database, ask: World['bank']): World['bank'] {
  return async (method, path, body) => {
    const told = path === '/control/events' ? JSON.parse(await underOrderIds(database, JSON.stringify(body))) : body
    const answer = await ask(method, await underOrderIds(database, path), told)
    return path === '/control/book' ? { ...answer, body: await underOurIds(database, answer.body) } : answer
  }
}

/** Asks again while a busy machine's database takes more than its second to connect, as 503 tells a client to. */
async function created(ask: () => Promise<Answer>): Promise<Answer['body']> {
  let answer = await ask()
  while (answer.status === 503) answer = await ask()
  assert.equal(answer.status, 201, JSON.stringify(answer.body))
  return answer.body
}

/** Composes the service with the sandbox's controls. */
async function composeSandbox(
  environment: Environment,
  given: Pick<Dependencies, 'clock' | 'logger'>,
  bankOf: WorldOptions['bank'],
  started: (() => Promise<unknown>)[],
): Promise<Service> {
  const config = readConfig(environment)
  const link = openPartnerLink(
    pixgateBankConfig(readVariables(pixgateBankVariables, environment, { isProduction: false })),
  )
  started.push(() => link.close())
  const simulated = config.bank.open(given.clock)
  const bank = bankOf?.(simulated) ?? simulated
  const service = await createService(
    { ...given, config, pause: realPause, random: Math.random, bank },
    sandboxControls(link),
  )
  started.push(() => service.stop())
  return service
}

/** Sends one request with a token. */
export async function request(
  url: string,
  token: string,
  method: string,
  body?: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const response = await fetch(url, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  const isJson = response.headers.get('content-type')?.includes('json')
  return {
    status: response.status,
    headers: response.headers,
    body: isJson ? await response.json() : await response.text(),
  }
}

const SILENT = pino({ level: 'silent' })

/** @source rules#reference.8 */
function assertHeaders(method: string, path: string, { status, headers }: Answer): void {
  const declared = declaredHeaders(method, path, status)
  if (declared) assert.deepEqual(headerFaults(declared, headers.keys()), [], `${method} ${path}: ${status}`)
}

/** @returns where operators are answered, if apart */
async function listen({ http, operatorHttp }: Service, port: number): Promise<string | undefined> {
  await http.listen({ host: '127.0.0.1', port })
  await operatorHttp?.listen({ host: '127.0.0.1', port: 0 })
  return operatorHttp && listeningUrl(operatorHttp.server)
}

/** Whether the bank holds what our books say that it holds. */
async function assertHeld(database: Database, { body }: Answer): Promise<void> {
  const { settlement = 0n } = await balances(database)
  assert.equal(BigInt(body.availableCents), -settlement, 'the bank holds what our books say it holds')
}

/** Builds a world; it goes with the test. `environment` is configuration. */
export async function world(
  t: TestContext,
  environment: Record<string, string> = {},
  options: WorldOptions = {},
): Promise<World> {
  const started: (() => Promise<unknown>)[] = []
  t.after(async () => {
    for (const stop of started.reverse()) await stop()
  })
  const { url: databaseUrl, database } = await testDatabase(t)
  const directory = await mkdtemp(join(tmpdir(), 'pixgate-world-'))
  started.push(() => rm(directory, { recursive: true, force: true }))
  const port = await testPort()
  const url = `http://127.0.0.1:${port}`
  const clock = steppedClock({ stands: options.isStepped ?? false })
  const standard = options.standard && standardBank(options.standard, url)
  const simulator = await startSimulator({
    ...BANK_PROOFS,
    dataDirectory: directory,
    ...(standard
      ? { apiPix: { ...standard.listening, certificatesDirectory: await certificatesDirectory() } }
      : { eventsUrl: url }),
    clock: options.bankClock ?? { now: clock.now, sleep: realPause.for },
  })
  started.push(simulator.stop)
  const variables = {
    ...ENVIRONMENT,
    ...(environment.PIXGATE_MODE === undefined && { PIXGATE_PAYMENT_PAGE: 'true' }),
    DATABASE_URL: (await options.reach?.(databaseUrl)) ?? databaseUrl,
    PIXGATE_PARTNER_URL: options.bankUrl ?? simulator.url,
    ...standard?.environment(simulator.apiPix, options.reachBank),
    ...environment,
  }
  const service = await composeSandbox(variables, { clock, logger: options.logger ?? SILENT }, options.bank, started)
  if (!options.isStepped) service.startWorkers()
  const operatorUrl = (await listen(service, port)) ?? url
  const receiver = await startOurReceiver(t)
  if (standard) await standard.registerWebhook(variables, clock)

  const ask = async (base: string, token: string, method: string, path: string, body?: unknown, headers = {}) => {
    const answer = await request(base + path, token, method, body, headers)
    if (base === url) assertHeaders(method, path, answer)
    return answer
  }

  const { apiKey } = await created(() => ask(operatorUrl, ADMIN_TOKEN, 'POST', '/api-key/generate'))
  const call: World['call'] = (method, path, body, headers) => ask(url, apiKey, method, path, body, headers)
  const bank = bankUnderOurIds(database, (...request) => ask(simulator.url, PARTNER_TOKEN, ...request))

  const answered = async (answer: Promise<Answer>, expected: number): Promise<Answer['body']> => {
    const { status, body } = await answer
    assert.equal(status, expected, JSON.stringify(body))
    return body
  }
  const create = (path: string, body: unknown) => answered(call('POST', path, body), 201)
  const webhook = { url: `${receiver.url}pix`, events: [...eventTypes] }
  await created(() => call('POST', '/webhook', webhook))
  const get: World['get'] = (path) => answered(call('GET', path), 200)
  const read: World['read'] = async (id) => (await call('GET', `/api/pix/cash-in/${id}`)).body
  const becomes: World['becomes'] = (id, status) =>
    poll(
      () => read(id),
      (detail) => detail.status === status,
    )
  const bankAction: World['bankAction'] = (path, body) => answered(bank('POST', `/control/${path}`, body), 202)
  let [charges, payouts] = [0, 0]
  const charge: World['charge'] = (value, more = {}) => {
    charges += 1
    const transaction = { value: Number(value), externalId: `order-${charges}`, ...more }
    return create('/api/pix/cash-in', { transaction })
  }
  const paid: World['paid'] = async (value, more) => {
    const { id } = await charge(value, more)
    await bankAction(`charges/${id}/pay`)
    return becomes(id, 'PAID')
  }
  return {
    url,
    operatorUrl,
    bankUrl: simulator.url,
    apiPixUrl: simulator.apiPix?.url,
    apiKey,
    service,
    database,
    databaseUrl,
    clock,
    receiver,
    call,
    bank,
    charge,
    paid,
    balance: async (cents) => {
      await paid(String(cents / 100))
    },
    cashOut: (transaction, recipient) => {
      payouts += 1
      return create('/api/pix/cash-out', {
        transaction: { value: 30, externalId: `payout-${payouts}`, ...transaction },
        recipient: { pixKey: 'joao@example.com', pixKeyType: 'email', ...recipient },
      })
    },
    refundIn: (cashInId, refundValue, more) => create(`/api/pix/refund-in/${cashInId}`, { refundValue, ...more }),
    bankAction,
    orderIdOf: (id) => orderIdOf(database, id),
    behave: async (change) => {
      await answered(bank('PUT', '/control/behavior', change), 200)
    },
    get,
    until: (path, holds) =>
      poll(async () => {
        if (options.isStepped) await service.processNext()
        return get(path)
      }, holds),
    read,
    becomes,
    work: () => service.processNext(),
    later: async (ms) => {
      clock.advance(ms)
      await service.processNext()
    },
    assertBooksAgree: async () => {
      standard?.assertOfTheStandard()
      await assertBooks(database)
      await assertHeld(database, await bank('GET', '/balance'))
    },
  }
}
