import { type AccountCode, accounts, type endpoints, type getOverview } from '@pixgate/spec'
import type { Static } from 'typebox'
import type { Clock } from '../platform/clock.ts'
import { type Database, instantParameter, type Queries, statement } from '../platform/db/database.ts'
import type { Handlers } from '../platform/http/handler.ts'
import { instantText } from '../platform/http/page.ts'
import { boundsOf, dayOf } from '../platform/sao-paulo.ts'

/** Balances, work that needs a person, and the money of the last hours: one answer for all consoles, two seconds old. */

type Overview = Static<(typeof getOverview)['responses'][200]['schema']>

export interface OverviewNeeds {
  readonly database: Database
  readonly clock: Clock
  readonly bank: () => { readonly isKnown: boolean; readonly problem: string | undefined }
}

/** @source rules#console.9 */
const REMEMBERED_MS = 2_000

const HOUR_MS = 3_600_000
const HOURS_SHOWN = 24

/** Entries are written with the time of their decision, at most this long before their commit. */
const LATE_MS = 60_000

/** @source rules#console.9 */
export function createOverviewHandler(needs: OverviewNeeds): Pick<Handlers<typeof endpoints>, 'getOverview'> {
  const { clock } = needs
  const hours = createHours(needs)
  let known: { readonly answer: Promise<Overview>; readonly at: number } | undefined
  return {
    getOverview: async () => {
      const now = clock.now()
      if (known === undefined || now - known.at >= REMEMBERED_MS) {
        const answer = read(needs, hours, now)
        const asked = { answer, at: now }
        known = asked
        answer.catch(() => {
          if (known === asked) known = undefined
        })
      }
      return { status: 200, body: await known.answer }
    },
  }
}

async function read({ database, bank }: OverviewNeeds, hours: Hours, now: number): Promise<Overview> {
  const [standing] = await database.rows(selectStanding, [])
  if (!standing) throw new Error('the rows of accounts and controls are missing')
  const shown = await hours(now)
  const todayFrom = boundsOf(dayOf(now)).from
  const today = shown.filter(({ at }) => at >= todayFrom)
  const sum = (of: 'in' | 'out' | 'refunded' | 'failed') => ({
    count: today.reduce((total, hour) => total + hour[of].count, 0),
    cents: today.reduce((total, hour) => total + hour[of].cents, 0),
  })
  const { isKnown, problem } = bank()
  const { balances, needsPerson, unknown, cashOut, statementReadAt, differences, lastClose, days, endpoints } = standing
  return {
    at: new Date(now).toISOString(),
    accounts: Object.keys(accounts).map((account) => ({
      account: account as AccountCode,
      balanceCents: balances[account] ?? 0,
    })),
    needsPerson: {
      cases: waitingOf(needsPerson.cases),
      payouts: waitingOf(needsPerson.payouts),
      proposals: waitingOf(needsPerson.proposals),
    },
    today: { in: sum('in'), out: sum('out'), refunded: sum('refunded'), failed: sum('failed'), unknown },
    hours: shown.slice(-HOURS_SHOWN).map(({ at, in: paid, out, refunded }) => ({
      at: new Date(at).toISOString(),
      inCents: paid.cents,
      outCents: out.cents + refunded.cents,
    })),
    days,
    health: {
      cashOut,
      bank: { status: problem !== undefined ? 'degraded' : isKnown ? 'ok' : 'unknown', reason: problem ?? null },
      statement: { readAt: instantText(statementReadAt), differences },
      lastClose,
      endpoints,
    },
  }
}

interface Waiting {
  readonly count: number
  readonly oldestAt: string | null
}

function waitingOf({ count, oldestAt }: Waiting): Waiting {
  return { count, oldestAt: oldestAt === null ? null : new Date(oldestAt).toISOString() }
}

interface Standing {
  readonly balances: Readonly<Record<string, number>>
  readonly needsPerson: Readonly<Record<'cases' | 'payouts' | 'proposals', Waiting>>
  readonly unknown: { readonly count: number; readonly cents: number }
  readonly cashOut: Overview['health']['cashOut']
  readonly statementReadAt: number | null
  readonly differences: number
  readonly lastClose: Overview['health']['lastClose']
  readonly days: Overview['days']
  readonly endpoints: Overview['health']['endpoints']
}

// Counts stop at a thousand: beyond it the number does not matter to a person.
const selectStanding = statement<[], Standing>(
  'console.standing',
  `SELECT (SELECT json_object_agg(code, balance_cents) FROM account) AS balances,
          json_build_object(
            'cases', (SELECT json_build_object('count', count(*), 'oldestAt', min(opened_at))
                        FROM (SELECT opened_at FROM "case" WHERE closed_at IS NULL ORDER BY opened_at LIMIT 1000) c),
            'payouts', (SELECT json_build_object('count', count(*), 'oldestAt', min(created_at))
                          FROM (SELECT created_at FROM operation
                                 WHERE kind = 'cash_out' AND status = 'RESERVED' AND facts ? 'approval'
                                   AND NOT facts ? 'approvedAt' ORDER BY id LIMIT 1000) o),
            'proposals', (SELECT json_build_object('count', count(*), 'oldestAt', min(at)) FROM (
                            SELECT s.at FROM "case" c JOIN case_step s ON s.case_id = c.id
                             WHERE c.closed_at IS NULL AND s.step = 'proposed'
                               AND NOT EXISTS (SELECT FROM case_step e WHERE e.proposal_id = s.id) LIMIT 1000) p)
          ) AS "needsPerson",
          (SELECT json_build_object('count', count(*), 'cents', coalesce(sum(value_cents), 0)) FROM (
             SELECT value_cents FROM operation
              WHERE kind IN ('cash_in', 'cash_out') AND status IN ('PROVIDER_RESULT_UNKNOWN', 'RECONCILIATION_REQUIRED')
              LIMIT 10000) u) AS unknown,
          (SELECT json_build_object('enabled', value -> 'enabled', 'reason', value -> 'reason',
                                    'changedAt', value -> 'changedAt')
             FROM control WHERE name = 'cash_out_switch') AS "cashOut",
          (SELECT read_at FROM statement_mark) AS "statementReadAt",
          (SELECT count(*)::integer FROM (SELECT FROM statement_gap WHERE filled_at IS NULL AND reported_at IS NOT NULL
                                           LIMIT 1000) g) AS differences,
          (SELECT json_build_object('day', day, 'status', content::jsonb -> 'status',
                                    'differenceCents', content::jsonb -> 'differenceCents')
             FROM daily_close ORDER BY day DESC LIMIT 1) AS "lastClose",
          (SELECT coalesce(json_agg(json_build_object('day', day, 'inCents', in_cents, 'outCents', out_cents) ORDER BY day), '[]')
             FROM (SELECT d.day, coalesce(-sum(j.cents) FILTER (WHERE j.cents < 0), 0) AS in_cents,
                          coalesce(sum(j.cents) FILTER (WHERE j.cents > 0), 0) AS out_cents
                     FROM (SELECT day, content::jsonb AS content FROM daily_close ORDER BY day DESC LIMIT 30) d
                     LEFT JOIN LATERAL (
                       SELECT (a ->> 'cents')::bigint AS cents
                         FROM jsonb_array_elements(d.content -> 'journals') n, jsonb_array_elements(n -> 'accounts') a
                        WHERE a ->> 'account' = 'settlement') j ON true
                    GROUP BY d.day) days) AS days,
          (SELECT json_build_object('active', count(*) FILTER (WHERE state = 'active'),
                                    'degraded', count(*) FILTER (WHERE state = 'degraded'),
                                    'paused', count(*) FILTER (WHERE state = 'paused'))
             FROM endpoint WHERE deleted_at IS NULL) AS endpoints`,
)

interface Sum {
  readonly count: number
  readonly cents: number
}

interface Hour extends Readonly<Record<'in' | 'out' | 'refunded' | 'failed', Sum>> {
  readonly at: number
}

const selectHour = statement<[from: string, to: string], Omit<Hour, 'at'>>(
  'console.hour',
  `SELECT json_build_object('count', count(*) FILTER (WHERE cents < 0), 'cents', coalesce(-sum(cents) FILTER (WHERE cents < 0), 0)) AS in,
          json_build_object('count', count(*) FILTER (WHERE cents > 0 AND NOT is_refund),
                            'cents', coalesce(sum(cents) FILTER (WHERE cents > 0 AND NOT is_refund), 0)) AS out,
          json_build_object('count', count(*) FILTER (WHERE cents > 0 AND is_refund),
                            'cents', coalesce(sum(cents) FILTER (WHERE cents > 0 AND is_refund), 0)) AS refunded,
          (SELECT json_build_object('count', count(*), 'cents', coalesce(sum(o.value_cents), 0))
             FROM move m JOIN operation o ON o.id = m.operation_id
            WHERE m.at >= $1 AND m.at < $2 AND m.kind IN ('cash_out', 'refund_in') AND m.to_status = 'FAILED'
              AND m.from_status <> 'FAILED') AS failed
     FROM (SELECT sum(e.amount_cents) AS cents, e.journal LIKE 'refund%' AS is_refund
             FROM entry e JOIN account a ON a.id = e.account_id
            WHERE a.code = 'settlement' AND e.at >= $1 AND e.at < $2
            GROUP BY e.operation_id, e.journal, e.reference) moved`,
)

type Hours = (now: number) => Promise<readonly Hour[]>

/** The last 24 hours, and those of today. An hour that is over is read once and kept. */
function createHours({ database }: { readonly database: Queries }): Hours {
  const over = new Map<number, Hour>()
  const hourOf = async (at: number): Promise<Hour> => {
    const bounds = [instantParameter(at), instantParameter(at + HOUR_MS)] as const
    const [sums] = await database.rows(selectHour, [...bounds])
    if (!sums) throw new Error('an aggregate has no row')
    return { at, ...sums }
  }
  return async (now) => {
    const first = Math.floor(now / HOUR_MS) * HOUR_MS - HOURS_SHOWN * HOUR_MS
    for (const at of over.keys()) if (at < first) over.delete(at)
    const hours: Hour[] = []
    for (let at = first; at <= now; at += HOUR_MS) {
      const hour = over.get(at) ?? (await hourOf(at))
      if (now >= at + HOUR_MS + LATE_MS) over.set(at, hour)
      hours.push(hour)
    }
    return hours
  }
}
