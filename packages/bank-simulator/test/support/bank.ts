import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { type Simulator, type SimulatorOptions, startSimulator } from '../../src/index.ts'
import { runningClock } from './clocks.ts'

/** Bearer token of the tests. */
export const TOKEN = 'the token'

/** Secret that signs events in the tests. */
export const SECRET = 'the secret'

/** URL without a listener. */
export const NOBODY = 'http://127.0.0.1:1'

/** Id of the charge of the tests. */
export const ID = '0198c0de-7a11-7000-8000-5f1d3c2b1a09'

/** Charge of the tests; expires an hour after their clocks begin. */
export const TERMS = {
  valueCents: 15_000,
  expiresAt: '2026-11-21T14:15:30.000Z',
  description: 'Pedido 1',
  payer: { name: 'João Souza', document: '11144477735' },
  merchant: { pixKey: 'loja@exemplo.com.br', name: 'Loja Exemplo', city: 'São Paulo' },
}

/** Id of the payout of the tests. */
export const PAYOUT_ID = '0198c0de-8b22-7000-8000-2c3d4e5f6a7b'

/** A payout to a key. */
export const PAYOUT = {
  valueCents: 4_000,
  description: 'Repasse 1',
  recipient: { pixKey: 'ana@exemplo.com.br', pixKeyType: 'email', name: 'Ana Lima', document: '93541134780' },
}

/** Id of the refund of the tests. */
export const REFUND_ID = '0198c0de-9c33-7000-8000-3d4e5f6a7b8c'

/** Default behaviour of a bank. */
export const WELL_BEHAVED = {
  cashIn: 'answer',
  cashOut: 'auto',
  refundIn: 'auto',
  latencyMs: 0,
  eventDelayMs: 0,
  eventCopies: 1,
  eventsShuffled: false,
}

/** An answer of the bank. */
export interface Answer {
  readonly status: number
  // biome-ignore lint/suspicious/noExplicitAny: a test knows what it asked for, and asserts on it.
  readonly body: any
}

/** A bank with functions that call it. */
export interface TestBank extends Simulator {
  readonly directory: string
  call(method: string, path: string, body?: unknown): Promise<Answer>
  /** Creates a charge, {@link TERMS} by default. */
  charge(id?: string, terms?: object): Promise<Answer>
  /** Creates and pays a charge. @returns the EndToEndId */
  paidCharge(id?: string): Promise<string>
  /** Orders a payout, {@link PAYOUT} by default. */
  payout(id?: string, order?: object): Promise<Answer>
  /** Orders a refund, with {@link REFUND_ID} by default. */
  refund(endToEndId: string, valueCents: number, id?: string): Promise<Answer>
  /** Changes how the bank behaves. */
  behave(change: object): Promise<Answer>
}

/** Starts a bank until the end of the test, which also removes its book, unless a directory is given. */
export async function startBank(t: TestContext, options: Partial<SimulatorOptions> = {}): Promise<TestBank> {
  const directory = options.dataDirectory ?? (await bankDirectory(t))
  const simulator = await startSimulator({
    port: 0,
    dataDirectory: directory,
    token: TOKEN,
    secret: SECRET,
    eventsUrl: NOBODY,
    warn: () => undefined,
    clock: runningClock(),
    ...options,
  })
  let stopped: Promise<void> | undefined
  const stop = () => {
    stopped ??= simulator.stop()
    return stopped
  }
  t.after(() => (stopped === undefined ? stop() : undefined))
  const call = callsTo(simulator.url)
  return {
    ...simulator,
    stop,
    directory,
    call,
    charge: (id, terms) => chargeBy(call, id, terms),
    paidCharge: async (id = ID) => {
      await chargeBy(call, id)
      return (await call('POST', `/control/charges/${id}/pay`)).body.endToEndId
    },
    payout: (id = PAYOUT_ID, order = PAYOUT) => call('PUT', `/payouts/${id}`, order),
    refund: (endToEndId, valueCents, id = REFUND_ID) => call('PUT', `/refunds/${id}`, { endToEndId, valueCents }),
    behave: (change) => call('PUT', '/control/behavior', change),
  }
}

/** Creates a directory for a book until the end of the test. */
export async function bankDirectory(t: TestContext): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'pixgate-bank-'))
  t.after(() => rm(directory, { recursive: true, force: true }))
  return directory
}

/** Function that calls the bank at an address. */
export function callsTo(url: string): TestBank['call'] {
  return async (method, path, body) => {
    const response = await fetch(url + path, {
      method,
      headers: {
        authorization: `Bearer ${TOKEN}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    return { status: response.status, body: await response.json() }
  }
}

/** Creates a charge. */
export function chargeBy(call: TestBank['call'], id: string = ID, terms: object = TERMS): Promise<Answer> {
  return call('PUT', `/charges/${id}`, terms)
}

/** Resolves with the payout or refund as soon as it has this status. */
export async function becomes(bank: Pick<TestBank, 'call'>, path: string, status: string): Promise<Answer['body']> {
  for (;;) {
    const { body } = await bank.call('GET', path)
    if (body.status === status) return body
  }
}

/** Resolves with the events in the order of what they tell, when the service has taken them all. */
export async function settledEvents({ call }: Pick<TestBank, 'call'>): Promise<Answer['body'][]> {
  for (;;) {
    const { events } = (await call('GET', '/control/book')).body
    if (events.pending.length === 0) return events.delivered
  }
}

/** Every movement of money, as kind, sign and amount, and the balance they leave. */
export async function moves({ call }: Pick<TestBank, 'call'>): Promise<[string[], number]> {
  const { entries, closingCents } = (await call('GET', '/statement')).body
  return [entries.map(({ kind, sign, valueCents }: Answer['body']) => `${kind} ${sign}${valueCents}`), closingCents]
}
