import type { AccountCode, endpoints, getOverview, listProposals } from '@pixgate/spec'
import type { Static } from 'typebox'
import type { BankStanding } from '../banks/calls.ts'
import { accountId } from '../engine/rows.ts'
import type { Clock } from '../platform/clock.ts'
import { type Database, type Queries, statement } from '../platform/db/database.ts'
import type { Handlers } from '../platform/http/handler.ts'
import { instantText } from '../platform/http/page.ts'
import { boundsOf, dayOf } from '../platform/sao-paulo.ts'
import { endOf, versionBefore } from './books.ts'

/** Balances, what needs a person, and the money of today: computed once for all screens. */

type Overview = Static<(typeof getOverview)['responses'][200]['schema']>
type Proposal = Static<(typeof listProposals)['responses'][200]['schema']>['data'][number]

export interface OverviewNeeds {
  /** The pool of the console. */
  readonly database: Database
  readonly clock: Clock
  readonly bank: () => Pick<BankStanding, 'isKnown' | 'problem'>
}

/** Age of a shown overview. */
const FRESH_MS = 2_000

/** @source rules#console.9, rules#console.12 */
export function createOverviewHandlers(
  needs: OverviewNeeds,
): Pick<Handlers<typeof endpoints>, 'getOverview' | 'listProposals'> {
  const money = new MoneyByHour(needs.database)
  const closedDays = createClosedDays(needs.database)
  let latest: { readonly at: number; readonly overview: Promise<Overview> } | undefined
  const read = async (at: number): Promise<Overview> => {
    const [standing] = await needs.database.rows(selectStanding, [])
    if (!standing) throw new Error('the standing has one row')
    await money.read(at)
    const days = await closedDays(standing.closeDay)
    return {
      at: new Date(at).toISOString(),
      ...standingView(standing),
      ...money.view(at, standing),
      days,
      health: healthView(standing, needs.bank()),
    }
  }
  return {
    getOverview: async () => {
      const now = needs.clock.now()
      if (latest === undefined || now - latest.at >= FRESH_MS) {
        const asked = { at: now, overview: read(now) }
        latest = asked
        asked.overview.catch(() => {
          if (latest === asked) latest = undefined
        })
      }
      return { status: 200, body: await latest.overview }
    },
    listProposals: async () => {
      const rows = await needs.database.rows(selectProposals, [])
      return { status: 200, body: { data: rows.map(proposalView) } }
    },
  }
}

/** Proposals that can be approved: of an open case as it is now, by an active operator. @see ../cases/second-person.ts */
const PENDING = `case_step s JOIN "case" c ON c.id = s.case_id AND c.closed_at IS NULL AND c.version::text = s.case_version
    WHERE s.step = 'proposed'
      AND NOT EXISTS (SELECT FROM case_step e WHERE e.proposal_id = s.id)
      AND EXISTS (SELECT FROM credential o WHERE o.id::text = s.operator_id AND o.deactivated_at IS NULL)`

interface ProposalRow {
  readonly proposalId: string
  readonly caseId: string
  readonly caseKind: string
  readonly operationId: string | null
  readonly decision: Proposal['decision']
  readonly amountCents: bigint
  readonly reason: string
  readonly operatorId: string
  readonly operatorName: string | null
  readonly at: number
}

const selectProposals = statement<[], ProposalRow>(
  'console.proposals',
  `SELECT s.id AS "proposalId", s.case_id AS "caseId", c.kind AS "caseKind",
          -- A requested refund is a case of no operation.
          coalesce(c.operation_id, CASE c.kind WHEN 'refund_requested' THEN (c.facts ->> 'cashInId')::uuid END)
            AS "operationId",
          s.content ->> 'decision' AS decision, s.amount_cents AS "amountCents", s.content ->> 'reason' AS reason,
          s.operator_id AS "operatorId", s.operator_name AS "operatorName", s.at
     FROM ${PENDING} ORDER BY s.at, s.id LIMIT 200`,
)

function proposalView({ amountCents, operatorId: id, operatorName: name, at, ...row }: ProposalRow): Proposal {
  return { ...row, amountCents: Number(amountCents), by: { id, name }, at: new Date(at).toISOString() }
}

interface Standing {
  readonly accounts: Overview['accounts']
  readonly cases: bigint
  readonly oldestCase: number | null
  readonly payouts: bigint
  readonly oldestPayout: number | null
  readonly proposals: bigint
  readonly oldestProposal: number | null
  readonly inDoubt: bigint
  readonly inDoubtCents: string | null
  readonly isEnabled: boolean
  readonly switchReason: string | null
  readonly switchedAt: number | null
  readonly readAt: number | null
  readonly differences: bigint
  readonly closeDay: string | null
  readonly closeStatus: string | null
  readonly closeCents: string | null
  readonly active: bigint
  readonly degraded: bigint
  readonly paused: bigint
}

/** Counts end here; the oldest is exact. */
const COUNTED_MAX = 10_000

const counted = (rows: string) => `(SELECT count(*) FROM (SELECT FROM ${rows} LIMIT ${COUNTED_MAX}) counted)`

const AWAITING = `operation WHERE kind = 'cash_out' AND status = 'RESERVED' AND facts ? 'approval' AND NOT facts ? 'approvedAt'`

const selectStanding = statement<[], Standing>(
  'console.standing',
  `WITH doubt AS (
     SELECT value_cents FROM operation
      WHERE kind = ANY ('{cash_in,cash_out}') AND status = ANY ('{PROVIDER_RESULT_UNKNOWN,RECONCILIATION_REQUIRED}')
      LIMIT ${COUNTED_MAX}),
   waiting AS (SELECT created_at FROM ${AWAITING} LIMIT ${COUNTED_MAX}),
   proposed AS (SELECT s.at FROM ${PENDING}),
   closed AS (SELECT day, content::jsonb AS content FROM daily_close ORDER BY day DESC LIMIT 1)
   SELECT (SELECT json_agg(json_build_object('account', code, 'balanceCents', balance_cents) ORDER BY id) FROM account)
            AS accounts,
          ${counted('"case" WHERE closed_at IS NULL')} AS cases,
          (SELECT min(opened_at) FROM "case" WHERE closed_at IS NULL) AS "oldestCase",
          (SELECT count(*) FROM waiting) AS payouts, (SELECT min(created_at) FROM waiting) AS "oldestPayout",
          (SELECT count(*) FROM proposed) AS proposals, (SELECT min(at) FROM proposed) AS "oldestProposal",
          (SELECT count(*) FROM doubt) AS "inDoubt", (SELECT sum(value_cents) FROM doubt) AS "inDoubtCents",
          (s.value ->> 'enabled')::boolean AS "isEnabled", s.value ->> 'reason' AS "switchReason",
          (s.value ->> 'changedAt')::timestamptz AS "switchedAt",
          (SELECT read_at FROM statement_mark) AS "readAt",
          ${counted(`"case" WHERE closed_at IS NULL
             AND kind IN ('line_missing', 'line_differs', 'unexplained_credit', 'unexplained_debit')`)} AS differences,
          (SELECT day::text FROM closed) AS "closeDay", (SELECT content ->> 'status' FROM closed) AS "closeStatus",
          (SELECT content ->> 'differenceCents' FROM closed) AS "closeCents", e.*
     FROM control s,
          (SELECT count(*) FILTER (WHERE state = 'active') AS active,
                  count(*) FILTER (WHERE state = 'degraded') AS degraded,
                  count(*) FILTER (WHERE state = 'paused') AS paused
             FROM endpoint WHERE deleted_at IS NULL) e
    WHERE s.name = 'cash_out_switch'`,
)

function standingView(standing: Standing): Pick<Overview, 'accounts' | 'needsPerson'> {
  const waiting = (count: bigint, oldest: number | null) => ({ count: Number(count), oldestAt: instantText(oldest) })
  const { accounts, cases, oldestCase, payouts, oldestPayout, proposals, oldestProposal } = standing
  return {
    accounts,
    needsPerson: {
      cases: waiting(cases, oldestCase),
      payouts: waiting(payouts, oldestPayout),
      proposals: waiting(proposals, oldestProposal),
    },
  }
}

function healthView(standing: Standing, { isKnown, problem }: ReturnType<OverviewNeeds['bank']>): Overview['health'] {
  const { isEnabled: enabled, switchReason: reason, closeDay: day, closeStatus, closeCents } = standing
  const status = problem !== undefined ? 'degraded' : isKnown ? 'ok' : 'unknown'
  return {
    cashOut: { enabled, reason, changedAt: instantText(standing.switchedAt) },
    bank: { status, reason: problem ?? null },
    statement: { readAt: instantText(standing.readAt), differences: Number(standing.differences) },
    lastClose:
      day === null
        ? null
        : { day, status: closeStatus ?? '', differenceCents: closeCents === null ? null : Number(closeCents) },
    endpoints: {
      active: Number(standing.active),
      degraded: Number(standing.degraded),
      paused: Number(standing.paused),
    },
  }
}

const selectClosedDays = statement<[], { readonly day: string; readonly inCents: string; readonly outCents: string }>(
  'console.closed_days',
  `SELECT d.day::text AS day, coalesce(sum(-m.cents) FILTER (WHERE m.cents < 0), 0) AS "inCents",
          coalesce(sum(m.cents) FILTER (WHERE m.cents > 0), 0) AS "outCents"
     FROM (SELECT day, content::jsonb -> 'journals' AS journals FROM daily_close ORDER BY day DESC LIMIT 30) d
     LEFT JOIN LATERAL (
       SELECT (a ->> 'cents')::bigint AS cents
         FROM jsonb_array_elements(d.journals) j CROSS JOIN LATERAL jsonb_array_elements(j -> 'accounts') a
        WHERE a ->> 'account' = 'settlement') m ON true
    GROUP BY d.day ORDER BY d.day`,
)

/** A close never changes, so the days are read again when there is another one. */
function createClosedDays(queries: Queries): (lastDay: string | null) => Promise<Overview['days']> {
  let known: { readonly lastDay: string | null; readonly days: Overview['days'] } = { lastDay: null, days: [] }
  return async (lastDay) => {
    if (lastDay !== known.lastDay) {
      const rows = await queries.rows(selectClosedDays, [])
      const days = rows.map(({ day, inCents, outCents }) => ({
        ...{ day, inCents: Number(inCents), outCents: Number(outCents) },
      }))
      known = { lastDay, days }
    }
    return known.days
  }
}

interface Hour {
  readonly hour: number
  readonly journal: string
  readonly isOut: boolean
  readonly count: bigint
  readonly cents: string
}

const selectHours = statement<[account: number, after: string, upTo: string], Hour>(
  'console.hours',
  `SELECT date_trunc('hour', at) AS hour, journal, amount_cents > 0 AS "isOut", count(*), sum(abs(amount_cents)) AS cents
     FROM entry WHERE account_id = $1 AND version > $2 AND version <= $3 GROUP BY 1, 2, 3`,
)

const HOUR_MS = 60 * 60 * 1_000
const DAY_MS = 24 * HOUR_MS

/** A day with a change to winter time has 25 hours. */
const KEPT_MS = 26 * HOUR_MS

/** Entries of a statement: about 30 ms. */
const ENTRIES_MAX = 100_000

const SUMMED = {
  // A payment in suspense has come in, too: what is returned of it counts as refunded.
  in: { account: 'settlement', journals: ['cash_in_paid', 'arrived_unattributed'] },
  out: { account: 'settlement', journals: ['cash_out_confirmed'] },
  refunded: { account: 'settlement', journals: ['refund_in_confirmed'] },
  failed: { account: 'reserved', journals: ['cash_out_released', 'refund_in_released'] },
} as const satisfies Record<string, { account: AccountCode; journals: readonly string[] }>

type Read = (typeof SUMMED)[keyof typeof SUMMED]['account']

/**
 * Sums of the last day by hour and journal. Versions of an account have no gap and the order of the commits, so each
 * entry is read once.
 */
class MoneyByHour {
  readonly #queries: Queries
  readonly #read = new Map<Read, bigint>()
  #hours: (Hour & { readonly account: Read })[] = []

  constructor(queries: Queries) {
    this.#queries = queries
  }

  async read(nowMs: number): Promise<void> {
    for (const account of ['settlement', 'reserved'] as const) await this.#readOn(account, nowMs)
    this.#hours = merged(this.#hours.filter(({ hour }) => hour >= nowMs - KEPT_MS))
  }

  async #readOn(account: Read, nowMs: number): Promise<void> {
    const id = accountId(account)
    const end = await endOf(this.#queries, id)
    let after = this.#read.get(account) ?? (await versionBefore(this.#queries, id, end, nowMs - KEPT_MS))
    while (after < end) {
      const upTo = end - after > ENTRIES_MAX ? after + BigInt(ENTRIES_MAX) : end
      const hours = await this.#queries.rows(selectHours, [id, String(after), String(upTo)])
      this.#hours.push(...hours.map((hour) => ({ ...hour, account })))
      this.#read.set(account, upTo)
      after = upTo
    }
  }

  view(nowMs: number, { inDoubt, inDoubtCents }: Standing): Pick<Overview, 'today' | 'hours'> {
    const { from } = boundsOf(dayOf(nowMs))
    const today = this.#hours.filter(({ hour }) => hour >= from)
    const summed = (name: keyof typeof SUMMED) => {
      const { account, journals } = SUMMED[name]
      const isMeant = (one: (typeof today)[number]) =>
        one.account === account && (journals as readonly string[]).includes(one.journal)
      return sumsOf(today.filter(isMeant))
    }
    return {
      today: {
        ...{ in: summed('in'), out: summed('out'), refunded: summed('refunded'), failed: summed('failed') },
        unknown: { count: Number(inDoubt), cents: Number(inDoubtCents ?? 0) },
      },
      hours: this.#lastDay(nowMs),
    }
  }

  #lastDay(nowMs: number): Overview['hours'] {
    const current = Math.floor(nowMs / HOUR_MS) * HOUR_MS
    const moved = this.#hours.filter(({ account }) => account === 'settlement')
    return Array.from({ length: DAY_MS / HOUR_MS }, (_, index) => {
      const at = current - DAY_MS + HOUR_MS + index * HOUR_MS
      const then = moved.filter(({ hour }) => hour === at)
      return {
        at: new Date(at).toISOString(),
        inCents: sumsOf(then.filter(({ isOut }) => !isOut)).cents,
        outCents: sumsOf(then.filter(({ isOut }) => isOut)).cents,
      }
    })
  }
}

/** One item per hour, account, journal and direction. */
function merged<Of extends Hour & { readonly account: string }>(hours: readonly Of[]): Of[] {
  const grouped = Map.groupBy(hours, ({ hour, account, journal, isOut }) => `${hour} ${account} ${journal} ${isOut}`)
  return [...grouped.values()].flatMap((ones) => {
    const [first] = ones
    const count = ones.reduce((sum, one) => sum + one.count, 0n)
    const cents = ones.reduce((sum, one) => sum + BigInt(one.cents), 0n)
    return first ? [{ ...first, count, cents: String(cents) }] : []
  })
}

function sumsOf(hours: readonly Hour[]): Overview['today']['in'] {
  return {
    count: hours.reduce((sum, { count }) => sum + Number(count), 0),
    cents: hours.reduce((sum, { cents }) => sum + Number(cents), 0),
  }
}
