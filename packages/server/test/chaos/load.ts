import type { Database } from '../../src/platform/db/database.ts'
import { type Chance, chanceOf } from '../fuzz/chance.ts'
import { underOrderIds } from '../support/order-ids.ts'
import { ask } from '../support/process-world.ts'
import { PARTNER_TOKEN } from '../support/world.ts'
import type { Merchant } from './merchant.ts'

/** What merchants, payers and the bank do all the time, each act drawn from a seed. */

/** Whom the acts are done with. */
export interface Scene {
  readonly seed: number
  readonly merchant: Merchant
  readonly bankUrl: string
  readonly database: Database
  /**
   * Whether also what a person has to look at happens: payers pay twice or another amount, and the bank takes back what a
   * refund was asked for.
   */
  readonly isIrregular: boolean
  /** Resolves after a time; rejects when the acts are over. */
  readonly pause: (ms: number) => Promise<void>
}

/** What was placed, and can be acted on. */
interface Placed {
  readonly charges: Charge[]
  /** Those that no payer is going to pay. */
  readonly unpaid: Charge[]
  readonly paid: { readonly id: string; readonly valueCents: number }[]
  /** Those of which a refund was asked for. */
  readonly refunded: Set<string>
  readonly payouts: { readonly id: string; readonly valueCents: number }[]
}

/** A charge whose code is placed. */
interface Charge {
  readonly id: string
  readonly valueCents: number
  readonly pixCode: string
}

/** How many acts are under way at once. */
const ACTORS = 8

/** Between two acts of one actor, up to. */
const PAUSE_MS = 250

/** Acts until the scene's pauses say that it is over. */
export async function act(scene: Scene): Promise<void> {
  const placed: Placed = { charges: [], unpaid: [], paid: [], refunded: new Set(), payouts: [] }
  const actors = Array.from({ length: ACTORS }, async (_, actor) => {
    const chance = chanceOf(scene.seed, 2, actor)
    for (let number = 0; ; number++) {
      await scene.pause(chance.below(PAUSE_MS))
      await oneAct(scene, placed, chance, `${actor}-${number}`)
    }
  })
  await Promise.all(actors).catch((error) => {
    if (!(error instanceof ActsOver)) throw error
  })
}

/** Thrown by a scene's pause when its time is over. */
export class ActsOver extends Error {}

function oneAct(scene: Scene, placed: Placed, chance: Chance, marker: string): Promise<unknown> {
  const drawn = chance.below(100)
  if (drawn < 34) return chargeAndPay(scene, placed, chance, marker)
  if (drawn < 56) return payOut(scene, placed, chance, marker)
  if (drawn < 64) return payCode(scene, placed, chance, marker)
  if (drawn < 80) return refund(scene, placed, chance, marker)
  if (drawn < 86) return returnPayment(scene, placed, chance)
  if (drawn < 92) return reversePayout(scene, placed, chance)
  if (drawn < 96) return failCharge(scene, placed, chance)
  return adjust(scene, chance, marker)
}

/** A charge, and what its payer does: mostly pays it; at times late, or never, and where it is irregular too much, or twice. */
async function chargeAndPay(scene: Scene, placed: Placed, chance: Chance, marker: string): Promise<void> {
  const valueCents = 100 + chance.below(20_000)
  const expirationTime = chance.pick([2, 60, 600])
  const transaction = { value: valueCents / 100, externalId: `charge-${marker}`, expirationTime }
  const id = await scene.merchant.place('cash_in', '/api/pix/cash-in', { transaction }, `charge-${marker}`)
  if (id === undefined) return
  const answer = await scene.merchant.read(`/api/pix/cash-in/${id}`)
  const charge = answer?.body?.pixCode ? { id, valueCents, pixCode: answer.body.pixCode } : undefined
  if (charge) remember(placed.charges, charge)
  const drawn = chance.below(100)
  if (drawn < 12) return charge && remember(placed.unpaid, charge)
  if (drawn < 22) await scene.pause(chance.below(4_000))
  const paidCents = scene.isIrregular && drawn > 95 ? valueCents + 1 + chance.below(100) : valueCents
  const isPaid = await control(scene, `/charges/${id}/pay`, { valueCents: paidCents })
  if (scene.isIrregular && drawn > 91) await control(scene, `/charges/${id}/pay`, {})
  if (isPaid) remember(placed.paid, { id, valueCents })
}

async function payOut({ merchant }: Scene, placed: Placed, chance: Chance, marker: string): Promise<void> {
  const valueCents = 100 + chance.below(12_000)
  const transaction = { value: valueCents / 100, externalId: `payout-${marker}` }
  const recipient = { pixKey: 'padaria@example.com', pixKeyType: 'email' }
  const id = await merchant.place('cash_out', '/api/pix/cash-out', { transaction, recipient }, `payout-${marker}`)
  if (id !== undefined) remember(placed.payouts, { id, valueCents })
}

/** Pays a code of another bank, or of a charge of one's own. */
async function payCode(scene: Scene, placed: Placed, chance: Chance, marker: string): Promise<void> {
  const own = chance.bool(0.3) ? ownCharge(scene, placed, chance) : undefined
  const valueCents = own?.valueCents ?? 100 + chance.below(5_000)
  const pixCode = own?.pixCode ?? (await control(scene, '/qr-codes', { valueCents }))?.pixCode
  if (pixCode === undefined) return
  const transaction = { pixCode, externalId: `code-${marker}` }
  const path = '/api/pix/cash-out-qrcode'
  const id = await scene.merchant.place('cash_out', path, { transaction }, `code-${marker}`)
  if (id !== undefined) remember(placed.payouts, { id, valueCents })
}

/** One of one's own charges to pay: one that nobody else pays, or any where it is irregular. */
function ownCharge({ isIrregular }: Scene, placed: Placed, chance: Chance): Charge | undefined {
  if (!isIrregular) return placed.unpaid.shift()
  return placed.charges.length > 0 ? chance.pick(placed.charges) : undefined
}

async function refund({ merchant }: Scene, placed: Placed, chance: Chance, marker: string): Promise<void> {
  if (placed.paid.length === 0) return
  const { id, valueCents } = chance.pick(placed.paid)
  placed.refunded.add(id)
  const body = { refundValue: partOf(valueCents, chance) / 100, externalId: `refund-${marker}` }
  await merchant.place('refund_in', `/api/pix/refund-in/${id}`, body, `refund-${marker}`)
}

/** The bank takes a part of a payment back (MED). */
async function returnPayment(scene: Scene, placed: Placed, chance: Chance): Promise<void> {
  if (placed.paid.length === 0) return
  const { id, valueCents } = chance.pick(placed.paid)
  if (!scene.isIrregular && placed.refunded.has(id)) return
  await control(scene, `/charges/${id}/return`, { valueCents: partOf(valueCents, chance) })
}

/** A payout comes back, a part of it. */
async function reversePayout(scene: Scene, placed: Placed, chance: Chance): Promise<void> {
  if (placed.payouts.length === 0) return
  const { id, valueCents } = chance.pick(placed.payouts)
  await control(scene, `/payouts/${id}/reverse`, { valueCents: partOf(valueCents, chance) })
}

async function failCharge(scene: Scene, placed: Placed, chance: Chance): Promise<void> {
  if (placed.charges.length > 0) await control(scene, `/charges/${chance.pick(placed.charges).id}/fail`, {})
}

async function adjust({ merchant }: Scene, chance: Chance, marker: string): Promise<void> {
  const valueCents = (1 + chance.below(5_000)) * (chance.bool(0.5) ? 1 : -1)
  const body = { valueCents, reason: `adjustment-${marker}` }
  await merchant.place('adjustment', '/operator/adjustments', body, `adjustment-${marker}`)
}

/** A third of an amount or less, at times all of it. */
function partOf(valueCents: number, chance: Chance): number {
  return chance.bool(0.2) ? valueCents : 1 + chance.below(Math.ceil(valueCents / 3))
}

/** The last ones are enough. */
function remember<T>(list: T[], one: T): void {
  list.push(one)
  if (list.length > 60) list.shift()
}

/** Uses a control of the bank once. @returns its answer, `undefined` where it was not used, refused or did not answer */
async function control(
  { bankUrl, database }: Scene,
  path: string,
  body: object,
): Promise<{ pixCode?: string } | undefined> {
  // The database may be the one that was just killed.
  const atBank = await underOrderIds(database, path).catch(() => undefined)
  if (atBank === undefined) return undefined
  const answer = await ask(`${bankUrl}/control${atBank}`, PARTNER_TOKEN, 'POST', body, {}, AbortSignal.timeout(3_000))
  return answer && answer.status < 300 ? answer.body : undefined
}
