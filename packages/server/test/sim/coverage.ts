import { cashIn, cashOut, decisionTriggers, type Machine, type Row, refundIn } from '@pixgate/spec'
import type { Draft } from '../../src/engine/draft.ts'
import type { Fault } from './faults.ts'

/**
 * How often each rare situation was reached: every row of every machine, every kind of case, every fault. What is never
 * reached is never tested.
 */

type AnyMachine = Pick<Machine, 'resource' | 'rows'>

const MACHINES = [cashIn, cashOut, refundIn] as unknown as readonly AnyMachine[]

const DECISIONS = new Map<string, string>(
  Object.entries(decisionTriggers).map(([decision, trigger]) => [trigger, decision]),
)

/** Counts of a run, or of several together. */
export class Coverage {
  readonly rows = new Map<string, number>()
  readonly cases = new Map<string, number>()
  /** By operation, kind of case and decision. */
  readonly decisions = new Map<string, number>()
  readonly faults = new Map<Fault, number>()

  constructor() {
    for (const { resource, rows } of MACHINES) {
      for (const row of rows) this.rows.set(rowName(resource, row), 0)
      for (const { decides = [], on } of rows) {
        const decision = DECISIONS.get(on)
        if (decision) for (const kind of [decides].flat()) this.decisions.set(`${resource} ${kind} ${decision}`, 0)
      }
      for (const { opens } of rows) if (opens) this.cases.set(`${resource} ${opens}`, 0)
    }
  }

  /** Counts from now on what is decided by the tables. @returns ends it */
  watch(): () => void {
    const undo = MACHINES.flatMap(({ resource, rows }) =>
      rows.map((row) => {
        const name = rowName(resource, row)
        return countReads(row, () => count(this.rows, name))
      }),
    )
    return () => {
      for (const end of undo) end()
    }
  }

  /** Counts a decision of an operator. */
  decision(name: string): void {
    count(this.decisions, name)
  }

  /** Counts a fault. */
  fault(fault: Fault): void {
    count(this.faults, fault)
  }

  /** Counts what a batch did: cases, and what is made without a step of a table. */
  committed({ cases, createdOperations }: Draft, of: (id: string) => string): void {
    for (const { kind, operationId } of cases.opened) if (operationId) count(this.cases, `${of(operationId)} ${kind}`)
    for (const created of createdOperations.values()) {
      const isBanks = created.kind === 'refund_in' && created.detail.origin === 'PARTNER'
      const machine = MACHINES.find(({ resource }) => resource === created.kind)
      const row = machine?.rows.find(
        ({ from, on }) => from === null && on === (isBanks ? 'partner.returned' : 'create'),
      )
      if (row) count(this.rows, rowName(created.kind, row))
    }
  }

  /** All faults together. */
  get faultCount(): number {
    return [...this.faults.values()].reduce((sum, times) => sum + times, 0)
  }

  /** What was never reached. */
  get unreached(): string[] {
    return [...this.rows, ...this.cases, ...this.decisions].filter(([, times]) => times === 0).map(([name]) => name)
  }

  /** Everything that is counted but the faults. */
  get names(): Set<string> {
    return new Set([...this.rows.keys(), ...this.cases.keys(), ...this.decisions.keys()])
  }

  /** What was reached. */
  get reached(): Set<string> {
    return new Set(
      [...this.rows, ...this.cases, ...this.decisions].filter(([, times]) => times > 0).map(([name]) => name),
    )
  }

  /** Takes the counts of another run in. */
  add(other: Pick<Coverage, 'rows' | 'cases' | 'decisions' | 'faults'>): void {
    for (const [name, times] of other.rows) count(this.rows, name, times)
    for (const [name, times] of other.cases) count(this.cases, name, times)
    for (const [name, times] of other.decisions) count(this.decisions, name, times)
    for (const [name, times] of other.faults) count(this.faults, name, times)
  }
}

/** What a row is called: its machine, its rule, where it applies, on what and when. */
function rowName(resource: string, { rule, from, because, on, when, unless, to }: Row): string {
  const doubt = because === null ? '' : `:${because}`
  const conditions = [...when, ...unless.map((guard) => `not ${guard}`)].join(', ')
  return `${resource} ${rule} ${from}${doubt} ${on}${conditions && ` [${conditions}]`} → ${to}`
}

function count<Name>(counts: Map<Name, number>, name: Name, times = 1): void {
  counts.set(name, (counts.get(name) ?? 0) + times)
}

/** Whether a row is ignored is asked of the one that applies, and of no other. */
function countReads(row: Row, onRead: () => void): () => void {
  const { isIgnored } = row
  Object.defineProperty(row, 'isIgnored', {
    configurable: true,
    get: () => {
      onRead()
      return isIgnored
    },
  })
  return () => Object.defineProperty(row, 'isIgnored', { configurable: true, value: isIgnored })
}
