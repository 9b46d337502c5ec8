import { type DeskDecision, deskDecisionNames, type LooseDecision, Refusal } from '@pixgate/spec'
import type { Command, Decision, Operation, State } from '../engine/operation.ts'
import { isUuid } from '../platform/ids.ts'
import { notDecidable } from './by-table.ts'
import type { CaseDecider, DeskOrder } from './decider.ts'
import { CasesMoved, type LooseDesk } from './loose/index.ts'
import { type OptionsNeeds, operationOf } from './options.ts'
import { versionOf } from './steps/rules.ts'
import { readStoredCase, type StoredCase } from './steps/store.ts'

/** What an operator orders of a case, whether it has an operation or none. */
export type AnyOrder = Omit<DeskOrder, 'decision'> & { readonly decision: DeskDecision | LooseDecision }

/** A case as it was read, with what decides it. */
export interface Decidable {
  readonly stored: StoredCase
  readonly version: string
  /** What a command must read to decide. */
  looks(order: AnyOrder): Pick<Command<unknown>, 'reads' | 'movements' | 'controls'>
  /**
   * Decides. Pure.
   * @param version that the case must still have; `undefined`: whatever it has, for a rehearsal
   * @throws CaseMoved · CasesMoved · Refusal
   */
  decide(order: AnyOrder, state: State, now: number, version: string | undefined): Decision<unknown>
  /** What a decision moves beyond what it posts, by an operation's own table, centavos. */
  handedCents(order: AnyOrder): bigint
  /** Whether what an order names is there. @throws validation_error (400) */
  check(order: AnyOrder): Promise<void>
  /** What follows once it is committed. @throws not_possible_in_state (409) what was named did not accept it */
  carryOut(order: AnyOrder): Promise<void>
}

/** The operation changed since the case was read. */
export class CaseMoved extends Error {}

/** @throws not_found (404) · not_possible_in_state (409) nobody decides it here */
export async function decidableOf(needs: OptionsNeeds, caseId: string): Promise<Decidable> {
  const { database, deciders, looseDesk } = needs
  for (;;) {
    const stored = isUuid(caseId) ? await readStoredCase(database, caseId) : undefined
    if (!stored) throw new Refusal('not_found')
    if (stored.operationId === null) return looseDecidable(looseDesk, stored)
    const operation = await operationOf(database, stored)
    const decider = operation && deciders[operation.kind]
    if (!operation || !decider) throw notHere()
    if (operation.version === stored.version) return ofOperation(stored, operation, decider)
  }
}

/** The version that a case has now. */
export async function currentVersion(
  { database, looseDesk }: Pick<OptionsNeeds, 'database' | 'looseDesk'>,
  caseId: string,
): Promise<string | undefined> {
  const stored = isUuid(caseId) ? await readStoredCase(database, caseId) : undefined
  if (!stored) return undefined
  return stored.operationId === null ? (await looseDesk.read(stored.id))?.version : versionOf(stored)
}

function notHere(): Refusal {
  return new Refusal('not_possible_in_state', { message: 'a case of this operation has no decision' })
}

const nothing = async () => undefined

function ofOperation(stored: StoredCase, operation: Operation, decider: CaseDecider): Decidable {
  return {
    stored,
    version: versionOf(stored),
    looks: (order) => decider.looks(operation, stored, ofTable(order, stored)),
    decide: (order, state, now, version) => {
      const current = state.operation(operation.id)
      if (version !== undefined && String(current?.version) !== version) throw new CaseMoved()
      return decider.decide(current ?? operation, stored, ofTable(order, stored), state, now)
    },
    handedCents: () => 0n,
    check: nothing,
    carryOut: nothing,
  }
}

/** @throws not_possible_in_state (409) no table has such a decision */
function ofTable({ decision, ...order }: AnyOrder, stored: StoredCase): DeskOrder {
  const known = deskDecisionNames.find((name) => name === decision)
  if (known === undefined) throw notDecidable({ decision }, stored)
  return { ...order, decision: known }
}

async function looseDecidable(desk: LooseDesk, stored: StoredCase): Promise<Decidable> {
  const looked = await desk.look(stored.id)
  if (!looked) throw new Refusal('not_found')
  const { read, seen } = looked
  const ids = desk.ids()
  return {
    stored,
    version: read.version,
    looks: () => desk.looks(read),
    decide: (order, state, _now, version) => {
      if (version !== undefined && state.versionOf('loose_cases') !== seen) throw new CasesMoved()
      return desk.decide(read, order, state, ids)
    },
    handedCents: (order) => desk.handedCents(read, order),
    check: (order) => desk.check(read, order),
    carryOut: (order) => desk.carryOut(read, order),
  }
}
