import type { CaseDecision, endpoints } from '@pixgate/spec'
import { limits as bounds } from '@pixgate/spec'
import type { Config } from '../config.ts'
import type { Clock } from '../platform/clock.ts'
import { type Database, instantParameter, statement } from '../platform/db/database.ts'
import type { Handlers } from '../platform/http/handler.ts'
import { cursorAfter, placeOf } from '../platform/http/page.ts'
import { invalidField } from '../platform/http/request.ts'
import { apiInfo } from '../reference/info.ts'

/** The audit trail, decisions that wait for a second person, and the system's settings and limits. */

export interface RecordsNeeds {
  readonly database: Database
  readonly clock: Clock
  readonly config: Pick<Config, 'mode' | 'settings' | 'limits'>
  readonly certificates: () => readonly { readonly of: string; readonly endsAt: number }[]
}

interface AuditRow {
  readonly id: string
  readonly at: number
  readonly actor: string
  readonly actorName: string | null
  readonly action: string
  readonly subject: string
  readonly address: string
  readonly facts: unknown
}

// Rows that a filter examines: the trail is read backwards, and a rare value must not read all of it.
const EXAMINED_MAX = 50_000

const selectAudit = statement<
  [
    actor: string | null,
    action: string | null,
    subject: string | null,
    at: string | null,
    id: string | null,
    limit: number,
  ],
  AuditRow
>(
  'console.audit',
  `SELECT id, at, actor, actor_name AS "actorName", action, subject, address, facts
     FROM (SELECT * FROM audit
            WHERE $4::timestamptz IS NULL OR (at, id) < ($4, $5::uuid)
            ORDER BY at DESC, id DESC LIMIT ${EXAMINED_MAX}) newest
    WHERE ($1::text IS NULL OR actor = $1) AND ($2::text IS NULL OR action = $2) AND ($3::text IS NULL OR subject = $3)
    ORDER BY at DESC, id DESC LIMIT $6`,
)

interface ProposalRow {
  readonly proposalId: string
  readonly caseId: string
  readonly caseKind: string
  readonly operationId: string | null
  readonly content: { readonly decision: CaseDecision; readonly reason: string }
  readonly amountCents: bigint
  readonly operatorId: string
  readonly operatorName: string | null
  readonly at: number
}

const selectProposals = statement<[], ProposalRow>(
  'console.proposals',
  `SELECT s.id AS "proposalId", c.id AS "caseId", c.kind AS "caseKind", c.operation_id AS "operationId", s.content,
          s.amount_cents AS "amountCents", s.operator_id AS "operatorId", s.operator_name AS "operatorName", s.at
     FROM "case" c JOIN case_step s ON s.case_id = c.id
    WHERE c.closed_at IS NULL AND s.step = 'proposed'
      AND NOT EXISTS (SELECT FROM case_step e WHERE e.proposal_id = s.id)
    ORDER BY s.at, s.id LIMIT 200`,
)

const selectUsed = statement<[minute: number, quarter: number], Record<'hour' | 'day' | 'night', bigint>>(
  'console.limits_used',
  `SELECT coalesce(sum(used_cents) FILTER (WHERE span = 'hour' AND bucket > $1), 0)::bigint AS hour,
          coalesce(sum(used_cents) FILTER (WHERE span = 'day' AND bucket > $2), 0)::bigint AS day,
          coalesce((array_agg(used_cents ORDER BY bucket DESC) FILTER (WHERE span = 'night'))[1], 0)::bigint AS night
     FROM allowance WHERE scope = 'all'`,
)

const MINUTE_MS = 60_000

export function createRecordHandlers(
  needs: RecordsNeeds,
): Pick<Handlers<typeof endpoints>, 'listAudit' | 'listProposals' | 'getSystem'> {
  const { database, clock } = needs
  const startedAt = new Date(clock.now()).toISOString()
  return {
    listAudit: async ({ query }) => {
      const { actor = null, action = null, subject = null, limit = bounds.pageLimitDefault } = query
      const place = query.cursor === undefined ? undefined : placeOf(query.cursor)
      if (query.cursor !== undefined && !place) {
        throw invalidField('cursor', 'invalid', 'cursor must be nextCursor of a page before')
      }
      const [at, id] = place ? [instantParameter(place.after.createdAt), place.after.id] : [null, null]
      // One extra row shows whether there are more.
      const rows = await database.rows(selectAudit, [actor, action, subject, at, id, limit + 1])
      const shown = rows.slice(0, limit)
      const hasMore = rows.length > limit
      const last = shown.at(-1)
      const nextCursor = hasMore && last ? cursorAfter({ createdAt: last.at, id: last.id }, 0) : null
      const data = shown.map((row) => ({ ...row, at: new Date(row.at).toISOString() }))
      return { status: 200, body: { data, pagination: { limit, hasMore, nextCursor } } }
    },
    listProposals: async () => {
      const rows = await database.rows(selectProposals, [])
      const data = rows.map(({ content, amountCents, operatorId: id, operatorName: name, at, ...row }) => ({
        ...row,
        ...{ decision: content.decision, reason: content.reason, by: { id, name } },
        amountCents: Number(amountCents),
        at: new Date(at).toISOString(),
      }))
      return { status: 200, body: { data } }
    },
    getSystem: async () => {
      const { mode } = needs.config
      const settings = [...needs.config.settings]
      const bank = settings.find(({ name }) => name === 'PIXGATE_BANK')?.value ?? ''
      const certificates = needs
        .certificates()
        .map(({ of, endsAt }) => ({ name: of, endsAt: new Date(endsAt).toISOString() }))
      const body = { mode, version: apiInfo.version, bank, startedAt, settings, certificates }
      return { status: 200, body: { ...body, limits: await limitsOf(needs) } }
    },
  }
}

async function limitsOf({ database, clock, config }: RecordsNeeds) {
  const { paymentCents, hourCents, dayCents, nightCents, newRecipientCents } = config.limits.caps
  const minute = Math.floor(clock.now() / MINUTE_MS)
  const [used] = await database.rows(selectUsed, [minute - 60, Math.floor(minute / 15) - 96])
  const row = (
    name: 'payment' | 'hour' | 'day' | 'night' | 'new_recipient',
    max: bigint | null,
    cents: bigint | null = null,
  ) => ({
    name,
    maxCents: max === null ? null : Number(max),
    usedCents: cents === null ? null : Number(cents),
  })
  return [
    row('payment', paymentCents),
    row('hour', hourCents, used?.hour ?? 0n),
    row('day', dayCents, used?.day ?? 0n),
    row('night', nightCents, used?.night ?? 0n),
    row('new_recipient', newRecipientCents),
  ]
}
