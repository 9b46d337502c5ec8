import type { TestContext } from 'node:test'
import { COLUMNS } from '../../src/bank-statement/import/file.ts'
import type { PartnerCapability } from '../../src/banks/port.ts'
import type { Answer } from '../support/world.ts'
import { type CloseWorld, closeWorld } from './fixture.ts'

/** Statements of the bank as files, and a bank whose statement comes in no other way. */

/** The first line of a file. */
export const HEADER = COLUMNS.join(';')

/** A movement of a file; what a test cares about is given. */
export interface Row {
  readonly kind: string
  readonly direction: string
  readonly value: string
  readonly endToEndId: string
  readonly returnId?: string
  readonly reference?: string
}

/** A file of one day, whose movements account for its balances unless a test says otherwise. */
export function fileOf(day: string, closing: string, rows: readonly Row[], opening = '0,00'): string {
  const lines = rows.map(({ kind, direction, value, endToEndId, returnId = '', reference = '' }) =>
    [day, '10:00:00', kind, direction, value, endToEndId, returnId, reference].join(';'),
  )
  return [
    HEADER,
    `${day};00:00:00;OPENING_BALANCE;;${opening};;;`,
    ...lines,
    `${day};23:59:59;CLOSING_BALANCE;;${closing};;;`,
    '',
  ].join('\r\n')
}

/** Imports a file as the operator. */
export function bring(pix: CloseWorld, text: string, type = 'text/csv'): Promise<Answer> {
  return pix.operator('POST', '/operator/statement-imports', text, { 'content-type': type })
}

/** A world of a bank that lacks something. */
export function worldWithout(t: TestContext, ...lacking: readonly PartnerCapability[]): Promise<CloseWorld> {
  return closeWorld(t, {
    bank: (simulated) => {
      const capabilities = new Set(simulated.capabilities)
      for (const capability of lacking) capabilities.delete(capability)
      return { ...simulated, capabilities } as typeof simulated
    },
  })
}

/** A world of a bank whose statement nobody can read but people. */
export function paperWorld(t: TestContext): Promise<CloseWorld> {
  return worldWithout(t, 'statement', 'balance')
}
