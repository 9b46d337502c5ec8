import { deskDecisionNames, Refusal } from '@pixgate/spec'
import type { Decision, Operation, State } from '../engine/operation.ts'
import { isUuid } from '../platform/ids.ts'
import { notDecidable } from './by-table.ts'
import type { AnyOrder, CaseDecider, DeskOrder } from './decider.ts'
import { countedOf } from './effects.ts'
import { CasesMoved, type LooseDesk, type PreparedLoose } from './loose/index.ts'
import { type OptionsNeeds, operationOf } from './options.ts'
import { readStoredCase, type StoredCase } from './steps/store.ts'

/** A case as it was read, with what decides it. */
export interface Decidable {
  readonly stored: StoredCase
  readonly version: string
  /** Of a case of no operation: how often any such case had been decided before it was read. */
  readonly seen: bigint | undefined
  /**
   * A decision as it is ordered, with all that it must look up.
   * @throws validation_error (400) · not_possible_in_state (409)
   */
  prepare(order: AnyOrder): Promise<Prepared>
}

/** A decision that can be made. */
export interface Prepared extends Pick<PreparedLoose, 'looks' | 'handedCents' | 'leftCents'> {
  /**
   * Decides. Pure.
   * @param version that the case must still have
   * @throws CaseMoved · CasesMoved · Refusal
   */
  decide(state: State, now: number, version: string): Decision<unknown>
  /** Less is accepted than the charge asks for. */
  readonly isShort: boolean
}

/** The case changed since it was read. */
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
    if (isOfOneTime(stored, operation)) return ofOperation(stored, operation, decider)
  }
}

/** Whether an operation was read with its case as the case was read. */
export function isOfOneTime(
  { id, version, closedAt }: Pick<StoredCase, 'id' | 'version' | 'closedAt'>,
  operation: Operation,
): boolean {
  return openVersion(operation, id) === (closedAt === null ? version : undefined)
}

function openVersion({ openCases = [] }: Operation, caseId: string): number | undefined {
  return openCases.find(({ id }) => id === caseId)?.version
}

/** The version that a case has now. */
export async function currentVersion(
  { database, looseDesk }: Pick<OptionsNeeds, 'database' | 'looseDesk'>,
  caseId: string,
): Promise<string | undefined> {
  const stored = isUuid(caseId) ? await readStoredCase(database, caseId) : undefined
  if (!stored) return undefined
  return stored.operationId === null ? (await looseDesk.read(stored.id))?.version : String(stored.version)
}

function notHere(): Refusal {
  return new Refusal('not_possible_in_state', { message: 'a case of this operation has no decision' })
}

function ofOperation(stored: StoredCase, operation: Operation, decider: CaseDecider): Decidable {
  return {
    stored,
    version: String(stored.version),
    seen: undefined,
    prepare: async (ordered) => {
      const order = ofTable(ordered, stored)
      const handed = await decider.handOver?.(operation, stored, order)
      return {
        looks: decider.looks(operation, stored, order, handed),
        decide: (state, now, version) => {
          const current = state.operation(operation.id)
          const isAsRead = String(current && openVersion(current, stored.id)) === version
          // One that was closed when it was read is refused by the table.
          if (stored.closedAt === null && !isAsRead) throw new CaseMoved()
          return decider.decide(current ?? operation, stored, order, state, now, handed)
        },
        ...countedOf(order.decision, order.amountCents ?? stored.atStakeCents),
        isShort: order.decision === 'accept' && (order.amountCents ?? 0n) < operation.valueCents,
      }
    },
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
  return {
    stored,
    version: read.version,
    seen,
    prepare: async (order) => {
      const { decide, ...prepared } = await desk.prepare(read, order)
      return {
        ...prepared,
        isShort: false,
        decide: (state, now) => {
          if (state.versionOf('loose_cases') !== seen) throw new CasesMoved()
          return decide(state, now)
        },
      }
    },
  }
}
