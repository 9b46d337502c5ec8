import { caseKind } from '@pixgate/spec'
import { isCashIn, suspendedCents } from '../../src/cash-in/index.ts'
import { reasonOf } from '../../src/engine/follow.ts'
import type { Merchant } from './merchant.ts'
import { assertHolds } from './violation.ts'
import type { World } from './world.ts'

/** What must hold once everything has come to rest. */

/** @throws Violation where something does not hold */
export function assertQuiet(world: World, merchant: Merchant): void {
  assertAnswered(world, merchant)
  assertEnded(world)
  assertOrders(world)
  assertMovements(world)
  assertSuspense(world)
  assertTrueCases(world)
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

/**
 * Name by name, as the bank's book and the entries of our settlement account have it: where the two differ there is an open
 * case of that name. So every centavo of the difference between the two balances is in a case.
 */
function assertMovements({ tables, bank, statement }: World): void {
  const differences = new Map<string, bigint>()
  const add = (name: string, cents: bigint) => differences.set(name, (differences.get(name) ?? 0n) + cents)
  for (const { direction, kind, movementId, valueCents, reference } of bank.book.entries) {
    add(kind === 'TARIFF' ? `tariff ${reference}` : movementId, direction === 'in' ? valueCents : -valueCents)
  }
  for (const { account, journal, operationId, reference, amountCents } of tables.entries) {
    if (account === 'settlement') add(journal === 'tariff_deducted' ? `tariff ${operationId}` : reference, amountCents)
  }
  const open = tables.openCases()
  const set = [...statement.entries.values()].filter(({ outcome }) => outcome === 'KEPT' || outcome === 'DIFFERS')
  for (const [name, cents] of differences) {
    const isExplained =
      open.some(({ reference }) => reference === name || reference.endsWith(` ${name}`)) ||
      set.some(({ movementId }) => movementId === name)
    assertHolds(cents === 0n || isExplained, 'I4', () => `${cents} of ${name} are in the bank’s book or ours alone`)
  }
  const total = [...differences.values()].reduce((sum, cents) => sum + cents, 0n)
  const ours = -tables.balance('settlement')
  assertHolds(
    total === bank.book.balanceCents - ours,
    'I4',
    () => `our books say ${ours}, the bank ${bank.book.balanceCents}`,
  )
}

/** Money that is in suspense on an operation has an open case there, and of a charge it is what its facts say. */
function assertSuspense({ tables }: World): void {
  const suspended = new Map<string, bigint>()
  for (const { account, operationId, amountCents } of tables.entries) {
    if (account !== 'suspense_in' && account !== 'suspense_out') continue
    // What a refund returned out of suspense was the charge's.
    const { from } = tables.operations.get(operationId)?.detail ?? {}
    const key = `${account} ${account === 'suspense_in' ? (from ?? operationId) : operationId}`
    suspended.set(key, (suspended.get(key) ?? 0n) + amountCents)
  }
  for (const [key, cents] of suspended) {
    const [account, id = ''] = key.split(' ')
    const holder = tables.operations.get(id)
    if (account === 'suspense_in' && isCashIn(holder)) {
      const known = Object.keys(holder.facts.payments ?? {}).reduce((sum, one) => sum + suspendedCents(holder, one), 0n)
      assertHolds(cents === known, 'I4', () => `${cents} are in ${key}, and the charge knows of ${known}`)
    }
    const hasCase = tables.openCasesOf(id).some(({ kind }) => caseKind(kind)?.holds === 'suspense')
    assertHolds(cents === 0n || hasCase, 'I4', () => `${cents} are in ${key}, and no case tells of it`)
  }
}

/** Rules of cases that only a bank can cause that says what is not true. */
const OF_LIES: ReadonlySet<string> = new Set([
  'cash-in.paid.3',
  'cash-in.paid.5',
  'cash-in.refunds.6',
  'cash-in.refunds.11',
  'cash-in.states.6',
  'cash-in.states.13',
  'cash-in.states.15',
  'cash-out.confirmed.3',
  'cash-out.confirmed.4',
  'cash-out.ended.2',
  'cash-out.ended.3',
  'cash-out.reversal.3',
  'cash-out.states.9',
  'cash-out.states.16',
  'refund-in.doubt.1',
  'refund-in.doubt.9',
  'refund-in.ended.3',
  'refund-in.ended.4',
  'refund-in.ended.6',
  'statement.8',
])

/** Rules of cases about something that is missing: they end when it comes. */
const OF_ABSENCE: ReadonlySet<string> = new Set([
  'cash-in.unknown.7',
  'cash-out.unknown.5',
  'cash-out.states.15',
  'cash-out.cases.11',
  'refund-in.unknown.4',
  'refund-in.states.10',
  'refund-in.cases.9',
])

function assertTrueCases({ tables, nature }: World): void {
  for (const { kind, rule, operationId } of tables.openCases()) {
    const operation = tables.operations.get(operationId ?? '')
    if (!OF_ABSENCE.has(rule) || !operation) continue
    const isMissing = reasonOf(operation) !== null || (OPEN_ENDS[operation.kind]?.includes(operation.status) ?? false)
    assertHolds(isMissing, 'I12', () => `${kind} of ${operationId} is open, and it is ${operation.status}`)
  }
  if (nature !== 'truthful') return
  const untrue = tables.openCases().find(({ rule }) => OF_LIES.has(rule))
  assertHolds(untrue === undefined, 'I12', () => `${untrue?.kind} of ${untrue?.operationId} is open, and nobody lied`)
}
