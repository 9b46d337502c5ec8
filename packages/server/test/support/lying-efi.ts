import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { CaseDecision } from '@pixgate/spec'
import { decidingOver } from '../cases/without-operation/fixture.ts'
import { balances } from './books.ts'
import { cases, notifiedStatuses } from './evidence.ts'
import { type LyingBank, lyingBank, type Telling, type Told } from './lying-bank.ts'
import { underOrderIds } from './order-ids.ts'
import { callbackAddress } from './standard-bank.ts'
import { until } from './until.ts'
import { ADMIN_TOKEN, type World, type WorldOptions, world } from './world.ts'

/** An end-to-end id of a payment that nobody made. */
export const FOREIGN = 'E99999999202611221210aaaaaaaaaaa'

/** Where an operation and the books are, what is open, and what the merchant was told. */
export interface Standing {
  readonly status: string
  readonly balances: Readonly<Record<string, bigint>>
  /** Open ones. */
  readonly cases: readonly string[]
  readonly notified: readonly string[]
}

/** A world at a bank of the standard, which tells what a test says. */
export interface LyingEfi extends World, LyingBank {
  /** Decides the only open case of a kind. */
  decide(kind: string, decision: CaseDecision, amountCents?: number): Promise<void>
  /** Lets so much time pass, in steps. */
  pass(ms: number, stepMs?: number): Promise<void>
  /** Sends a callback of one item, which makes the service ask. */
  callBack(item: object): Promise<void>
  /** Waits until the bank's own book has such an entry: it settles in its own time. */
  moved(kind: string): Promise<void>
  stands(path: string): Promise<Standing>
}

/** Builds it, at Efí where nothing else is said. */
export async function lyingEfi(
  t: TestContext,
  options: Pick<WorldOptions, 'standard' | 'logger'> = {},
): Promise<LyingEfi> {
  const bank = await lyingBank(t)
  const pix = await world(t, {}, { isStepped: true, standard: 'efi', reachBank: bank.reachBank, ...options })
  return {
    ...pix,
    ...bank,
    decide: async (kind, decision, amountCents) => {
      const { caseId, ...order } = await decidingOver(pix).order(kind, decision)
      const asked = amountCents === undefined ? order : { ...order, amountCents }
      const headers = { authorization: `Bearer ${ADMIN_TOKEN}` }
      const { status, body } = await pix.call('POST', `/operator/cases/${caseId}/decisions`, asked, headers)
      assert.equal(status, 200, JSON.stringify(body))
    },
    pass: async (ms, stepMs = 60_000) => {
      for (let passedMs = 0; passedMs < ms; passedMs += stepMs) await pix.later(stepMs)
    },
    callBack: async (item) => {
      const told = { endToEndId: FOREIGN, valor: '1.00', horario: new Date(pix.clock.now()).toISOString(), ...item }
      const headers = { 'content-type': 'application/json' }
      const body = await underOrderIds(pix.database, JSON.stringify({ pix: [told] }))
      assert.equal((await fetch(callbackAddress(pix.url), { method: 'POST', headers, body })).status, 200)
      await pix.work()
    },
    moved: (kind) =>
      until(async () => {
        const { entries } = (await pix.bank('GET', '/control/book')).body
        return entries.some((entry: { kind: string }) => entry.kind === kind)
      }),
    stands: async (path) => ({
      status: (await pix.get(path)).status,
      balances: await balances(pix.database),
      cases: (await cases(pix.database)).filter((kind) => !kind.endsWith('(closed)')),
      notified: await notifiedStatuses(pix.database),
    }),
  }
}

/** Tells something with these fields, where it is told at all. */
export function withFields(is: (told: Told) => boolean, fields: object): Telling {
  return (told) => (is(told) && told.status < 300 ? { body: { ...told.body, ...fields } } : undefined)
}
