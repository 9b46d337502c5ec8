import { reasonOf } from '../../src/engine/reason.ts'
import { assertHolds } from './invariants.ts'
import type { Merchant } from './merchant.ts'
import { bookedAt } from './tables.ts'
import type { World } from './world.ts'

/** What must hold once everything has come to rest. */

/** @throws Violation where something does not hold */
export function assertQuiet(world: World, merchant: Merchant): void {
  assertAnswered(world, merchant)
  assertEnded(world)
  assertOrders(world)
  assertMovements(world)
}

function assertAnswered({ tables }: World, { answered }: Merchant): void {
  for (const id of answered) assertHolds(tables.operations.has(id), 'I10', () => `${id} was answered and is gone`)
}

const OPEN_ENDS: Readonly<Record<string, readonly string[]>> = {
  cash_in: ['PENDING', 'PROVIDER_RESULT_UNKNOWN'],
  cash_out: ['RESERVED', 'DISPATCHED', 'PROVIDER_RESULT_UNKNOWN'],
  refund_in: ['PENDING'],
}

function assertEnded({ tables, bank, inbox }: World): void {
  for (const { id, kind, status, facts } of tables.operations.values()) {
    const isOpen = OPEN_ENDS[kind]?.includes(status) ?? false
    const hasCase = tables.openCasesOf(id).length > 0
    const isUnderWay = bank.book.orders.get(id)?.state === 'PROCESSING'
    assertHolds(!isOpen || hasCase || isUnderWay, 'I12', () => `${kind} ${id} is ${status}`)
    const isDoubt = reasonOf({ facts }) !== null
    assertHolds(!isDoubt || hasCase, 'I12', () => `${kind} ${id} is in doubt and has no case`)
  }
  for (const { outcome, dedupe_key } of inbox.rows) {
    assertHolds(!outcome?.startsWith('failed '), 'I12', () => `event ${dedupe_key} ${outcome}`)
  }
}

function assertOrders({ tables, bank }: World): void {
  for (const [id, order] of bank.book.orders) {
    const operation = tables.operations.get(id)
    assertHolds(operation !== undefined, 'I9', () => `the bank has ${order.kind} ${id}, which nobody made`)
    if (!operation || !bank.book.isTruthful(id) || reasonOf(operation) !== null) continue
    const isOut = order.executions.length > 0
    const saysOut = operation.status === 'CONFIRMED' || operation.status === 'REVERSED'
    const isSame = isOut === saysOut || tables.openCasesOf(id).length > 0
    assertHolds(isSame, 'I9', () => `${id} is ${operation.status}, and left ${order.executions.length} times`)
  }
}

/** Every movement of the bank is booked once, or a case; and what our books have beside them is a case. */
function assertMovements({ tables, bank, statement }: World): void {
  let explained = 0n
  const cases = new Set(tables.openCases().map(({ kind, reference }) => `${kind} ${reference}`))
  for (const { direction, kind, movementId, valueCents, reference } of bank.book.entries) {
    const sign = direction === 'in' ? 1n : -1n
    const isTariff = kind === 'TARIFF'
    const booked = isTariff ? tariffOf(tables, reference) : bookedAt(tables, direction, movementId)?.valueCents
    if (booked === valueCents) continue
    const row = statement.entries.get(`${direction} ${movementId} ${kind}`)
    const isCase = [...cases].some((name) => name.startsWith('statement_') && name.endsWith(` ${kind} ${movementId}`))
    const isKept = row?.outcome === 'KEPT'
    assertHolds(isCase || isKept || row?.outcome === 'DIFFERS', 'I4', () => `${kind} ${movementId} of ${valueCents} is booked as ${booked}`)
    explained += sign * (valueCents - (booked ?? 0n))
  }
  const atBank = new Set(bank.book.entries.map(({ direction, movementId }) => `${direction} ${movementId}`))
  for (const [key, { direction, id, valueCents }] of tables.movements) {
    if (atBank.has(key)) continue
    const isUnnamed = id.startsWith('unnamed ')
    assertHolds(isUnnamed || cases.has(`statement_missing ${key}`), 'I4', () => `${key} of ${valueCents} is in our books alone`)
    explained -= direction === 'in' ? valueCents : -valueCents
  }
  const ours = -tables.balance('settlement')
  const difference = bank.book.balanceCents - ours - explained
  assertHolds(difference === 0n, 'I4', () => `our books say ${ours}, the bank ${bank.book.balanceCents}, explained are ${explained}`)
}

function tariffOf(tables: World['tables'], id: string): bigint | undefined {
  const entry = tables.entries.find(
    ({ operationId, journal, account }) => operationId === id && journal === 'tariff_deducted' && account === 'settlement',
  )
  return entry?.amountCents
}
