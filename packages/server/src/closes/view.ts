import type { getClose, listCloses } from '@pixgate/spec'
import type { Static } from 'typebox'
import { positionText } from '../audit/chain.ts'
import type { CloseContent } from './content.ts'
import type { Close } from './store.ts'

type CloseBody = Static<(typeof getClose)['responses'][200]['schema']>
type SummaryBody = Static<(typeof listCloses)['responses'][200]['schema']>['data'][number]

/** What a close says. */
export function contentOfClose({ content }: Pick<Close, 'content'>): CloseContent {
  return JSON.parse(content) as CloseContent
}

/** A close in a list. */
export function summaryView(close: Close): SummaryBody {
  const { status, differenceCents, unexplainedCents } = contentOfClose(close)
  return {
    id: close.day,
    version: close.version,
    seq: Number(close.seq),
    supersedes: close.supersedes === null ? null : Number(close.supersedes),
    status,
    differenceCents,
    unexplainedCents,
    madeAt: new Date(close.madeAt).toISOString(),
    hash: close.hash.toString('hex'),
  }
}

/** A close as it is read, and as the program prints it. @source rules#close.8 */
export function closeView(close: Close): CloseBody {
  const { day: _, accounts, journals, explained, openCases, changed, ...content } = contentOfClose(close)
  return {
    ...summaryView(close),
    ...content,
    previousHash: close.previousHash.toString('hex'),
    auditHead: positionText(close.audit),
    accounts: [...accounts],
    journals: journals.map((journal) => ({ ...journal, accounts: [...journal.accounts] })),
    explained: { ...explained, cases: [...explained.cases] },
    openCases: { ...openCases, cases: [...openCases.cases] },
    changed: [...changed],
  }
}

/** The place after a close, as a client sends it back. @source rules#close.8 */
export function cursorAfter({ seq }: Pick<Close, 'seq'>): string {
  return Buffer.from(`v1:${seq}`).toString('base64url')
}

/** The place in a cursor, or `undefined` where it is none of ours. */
export function placeIn(cursor: string): bigint | undefined {
  const digits = /^v1:(\d{1,18})$/.exec(Buffer.from(cursor, 'base64url').toString('latin1'))?.[1]
  return digits === undefined ? undefined : BigInt(digits)
}
