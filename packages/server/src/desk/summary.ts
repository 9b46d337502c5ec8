import { caseKind, type listCases } from '@pixgate/spec'
import type { Static } from 'typebox'
import type { CaseRow, OtherCase } from './store.ts'

/** What a list shows of a case. Pure. */

/** A case as a list shows it. */
export type CaseSummary = Static<(typeof listCases)['responses'][200]['schema']>['data'][number]

/** A case in short, with what it means. @source rules#desk.30 */
export function summaryOf(row: CaseRow): CaseSummary {
  const { id, kind, reference, amountCents, openedAt, closedAt, operationId, operationKind, status, externalId } = row
  return {
    id,
    kind,
    state: closedAt === null ? 'open' : 'closed',
    meaning: caseKind(kind)?.meaning ?? UNKNOWN,
    reference,
    amountCents: amountCents === null ? null : Number(amountCents),
    operation:
      operationId === null || operationKind === null
        ? null
        : {
            id: operationId,
            kind: operationKind as NonNullable<CaseSummary['operation']>['kind'],
            status: status ?? '',
            externalId: externalId ?? '',
          },
    openedAt: new Date(openedAt).toISOString(),
    closedAt: closedAt === null ? null : new Date(closedAt).toISOString(),
  }
}

/** A later version, whose process runs beside this one, may know more kinds. */
const UNKNOWN = 'This version does not know this kind of case; what was reported stands in its facts.'

/** The same of another case of its operation. */
export function summaryOfOther(other: OtherCase): CaseSummary {
  const { amountCents, openedAt, closedAt } = other
  return summaryOf({
    ...other,
    amountCents: amountCents === null ? null : BigInt(amountCents),
    openedAt: Date.parse(openedAt),
    closedAt: closedAt === null ? null : Date.parse(closedAt),
  })
}
