import type { endpoints } from '@pixgate/spec'
import { operatorOf } from '../../audit/operator.ts'
import type { Handlers } from '../../platform/http/handler.ts'
import type { StatementImports } from './imports.ts'

/** The endpoint of imports. */
export type ImportHandlers = Handlers<Pick<typeof endpoints, 'importStatement'>>

/** Makes the handler. @source rules#import.1 */
export function createImportHandlers(imports: StatementImports): ImportHandlers {
  return {
    importStatement: async ({ context }) => {
      const row = await imports.bring(context.rawBody, operatorOf(context), context.live)
      const body = {
        id: row.id,
        firstDay: row.first_day,
        lastDay: row.last_day,
        openingCents: Number(row.opening_cents),
        closingCents: Number(row.closing_cents),
        rows: row.row_count,
        matched: row.matched,
        different: row.different,
        onlyTheirs: row.only_theirs,
        onlyOurs: row.only_ours,
        importedAt: new Date(row.imported_at).toISOString(),
        importedBy: row.imported_by,
      }
      return { status: 200, body }
    },
  }
}
