import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { pino } from 'pino'
import type { BalanceAnswer } from '../../src/banks/port.ts'
import { createCloser } from '../../src/closes/closes.ts'
import { createIds } from '../../src/platform/ids.ts'
import { boundsOf, dayOf } from '../../src/platform/sao-paulo.ts'
import { ADMIN_TOKEN, type Answer, type World, type WorldOptions, world } from '../support/world.ts'

const MINUTE = 60_000

/** A world whose days can be closed. */
export interface CloseWorld extends World {
  /** The day that it is in São Paulo. */
  today(): string
  /** Lets this day end, the bank's balance and statement be read past its end, and the day be closed. @returns the day */
  endDay(): Promise<string>
  /** Lets so much time pass that days which are over are closed. */
  closing(): Promise<void>
  /** Calls as the operator. */
  operator(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>
  /** The close of a day, as it is read. */
  close(day: string): Promise<Answer['body']>
  /** Another worker that closes days. */
  closer(): ReturnType<typeof createCloser>
}

/** Builds one. It begins in the first hour of a day, so that no test runs over its end by chance. */
export async function closeWorld(
  t: TestContext,
  options: WorldOptions = {},
  environment: Record<string, string> = {},
): Promise<CloseWorld> {
  const pix = await world(t, environment, { isStepped: true, ...options })
  const today = () => dayOf(pix.clock.now())
  pix.clock.advance(boundsOf(today()).to + MINUTE - pix.clock.now())
  const closing = async () => {
    for (let minutes = 0; minutes < 12; minutes += 1) {
      await pix.later(MINUTE)
      await pix.service.closeDays()
    }
  }
  const operator: CloseWorld['operator'] = (method, path, body, headers) =>
    pix.call(method, path, body, { authorization: `Bearer ${ADMIN_TOKEN}`, ...headers })
  return {
    ...pix,
    today,
    operator,
    endDay: async () => {
      const day = today()
      await pix.later(MINUTE)
      pix.clock.advance(boundsOf(day).to - pix.clock.now())
      await closing()
      return day
    },
    closing,
    close: async (day) => {
      const { status, body } = await operator('GET', `/operator/closes/${day}`)
      assert.equal(status, 200, JSON.stringify(body))
      return body
    },
    closer: () =>
      createCloser({
        databaseUrl: pix.databaseUrl,
        database: pix.database,
        report: async () => undefined,
        isBankAccountShared: false,
        drained: async () => undefined,
        clock: pix.clock,
        ids: createIds(pix.clock),
        logger: pino({ level: 'silent' }),
        partner: { capabilities: new Set(['statement']), readBalance: async () => assert.fail() },
      }),
  }
}

/** A file as it is saved: its name, type and bytes. */
export async function fileOf({ operatorUrl }: CloseWorld, path: string) {
  const answer = await fetch(`${operatorUrl}${path}`, { headers: { authorization: `Bearer ${ADMIN_TOKEN}` } })
  assert.equal(answer.status, 200, path)
  const [, name] = /^attachment; filename="([^"]+)"$/.exec(answer.headers.get('content-disposition') ?? '') ?? []
  return { name, type: answer.headers.get('content-type'), bytes: Buffer.from(await answer.arrayBuffer()) }
}

/** The bank has a payment of so many centavos that names nothing of ours. @returns its end-to-end id */
export async function payUnknown(pix: CloseWorld, valueCents: number): Promise<string> {
  const expiresAt = new Date(pix.clock.now() + 86_400_000 * 2).toISOString()
  const terms = { valueCents, expiresAt, merchant: { pixKey: 'loja@example.com', name: 'Loja', city: 'Sao Paulo' } }
  assert.equal((await pix.bank('PUT', `/charges/${FORGOTTEN}`, terms)).status, 201)
  return String((await pix.bankAction(`charges/${FORGOTTEN}/pay`)).endToEndId)
}

const FORGOTTEN = '0198c0de-7a11-7000-8000-5f1d3c2b1a09'

/** The balances of a close, without those that are 0. */
export function balancesOf(close: Answer['body'], which: 'openingCents' | 'closingCents'): Record<string, number> {
  const named = close.accounts.map((row: Answer['body']) => [row.account, row[which]] as const)
  return Object.fromEntries(named.filter(([, cents]: readonly [string, number]) => cents !== 0))
}

/** A bank whose balance is so much more than it is, or less, or cannot be read. */
export async function offWorld(t: TestContext) {
  const off = { cents: 0n, isSilent: false }
  const pix = await closeWorld(t, {
    bank: (simulated) => ({
      ...simulated,
      readBalance: async (): Promise<BalanceAnswer> => {
        if (off.isSilent) return { kind: 'UNKNOWN', reason: 'HTTP 500', httpStatus: 500 }
        const answer = await simulated.readBalance()
        if (answer.kind !== 'READ') return answer
        return { ...answer, balance: { ...answer.balance, availableCents: answer.balance.availableCents + off.cents } }
      },
    }),
  })
  return { ...pix, off }
}

/** What a close says of the bank, in short. */
export function said({ status, bank, differenceCents, unexplainedCents }: Answer['body']) {
  return [status, bank?.closingCents ?? null, differenceCents, unexplainedCents]
}
