import { type Caps, type endpoints, type getSystem, limits, workNames } from '@pixgate/spec'
import type { Static } from 'typebox'
import type { BankCertificate } from '../banks/certificates.ts'
import type { Span } from '../engine/allowance.ts'
import { createHealthStore } from '../health/index.ts'
import { windowStart } from '../operations/caps.ts'
import type { Clock } from '../platform/clock.ts'
import { type Database, statement } from '../platform/db/database.ts'
import type { Handlers } from '../platform/http/handler.ts'
import { invalidField } from '../platform/http/request.ts'
import { isUuid } from '../platform/ids.ts'

/** The audit trail, and the system with its settings and limits. */

type System = Static<(typeof getSystem)['responses'][200]['schema']>

export interface SystemNeeds {
  /** The pool of the console. */
  readonly database: Database
  readonly clock: Clock
  readonly version: string
  readonly config: {
    readonly mode: System['mode']
    readonly settings: readonly System['settings'][number][]
    readonly limits: { readonly caps: Caps }
  }
  readonly certificates: () => readonly BankCertificate[]
}

/** Rows of the trail that a page with a filter examines. */
const EXAMINED_MAX = 20_000

const selectVersion = statement<[], { readonly postgres: string }>(
  'console.version',
  `SELECT split_part(current_setting('server_version'), ' ', 1) AS postgres`,
)

/** Overdue work of each kind; none is 0. */
async function workOf(database: Database): Promise<System['work']> {
  const late = await createHealthStore(database).late()
  return workNames.map((name) => {
    const { count = 0, oldestSeconds = null } = late.find(({ kind }) => kind === name) ?? {}
    return { name, overdue: count, oldestSeconds: oldestSeconds === null ? null : Math.round(oldestSeconds) }
  })
}

/** @source rules#console.11, rules#console.13 */
export function createSystemHandlers(needs: SystemNeeds): Pick<Handlers<typeof endpoints>, 'listAudit' | 'getSystem'> {
  const { database, clock, version, config } = needs
  const startedAt = new Date(clock.now()).toISOString()
  return {
    listAudit: async ({ query }) => {
      const { actor = null, action = null, subject = null, cursor = null, limit = limits.pageLimitDefault } = query
      if (cursor !== null && !isUuid(cursor)) {
        throw invalidField('cursor', 'invalid', 'cursor must be nextCursor of a page before')
      }
      const isFiltered = actor !== null || action !== null || subject !== null
      const [horizon] = isFiltered ? await database.rows(selectHorizon, [cursor]) : []
      const wanted = [cursor, horizon?.id ?? null, actor, action, subject, limit + 1] as const
      const rows = await database.rows(selectAudit, [...wanted])
      const last = rows.length > limit ? rows[limit - 1] : horizon
      const data = rows.slice(0, limit).map(({ at, ...row }) => ({ ...row, at: new Date(at).toISOString() }))
      const pagination = { limit, hasMore: last !== undefined, nextCursor: last?.id ?? null }
      return { status: 200, body: { data, pagination } }
    },
    getSystem: async () => ({
      status: 200,
      body: {
        ...{ mode: config.mode, version, startedAt, settings: [...config.settings] },
        versions: {
          node: process.versions.node,
          postgres: (await database.rows(selectVersion, []))[0]?.postgres ?? '',
        },
        work: await workOf(database),
        bank: config.settings.find(({ name }) => name === 'PIXGATE_BANK')?.value ?? '',
        limits: await limitsOf(needs),
        certificates: needs.certificates().map(({ of: name, endsAt }) => ({
          name,
          endsAt: new Date(endsAt).toISOString(),
        })),
      },
    }),
  }
}

interface AuditListed {
  readonly id: string
  readonly at: number
  readonly actor: string
  readonly actorName: string | null
  readonly action: string
  readonly subject: string
  readonly address: string
  readonly facts: unknown
}

/** By id, as times of the trail are finer than a millisecond. */
const BEHIND = `(a.at, a.id) < (coalesce((SELECT b.at FROM audit b WHERE b.id = $1), 'infinity'),
                               coalesce($1::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff'))`

const selectHorizon = statement<[cursor: string | null], { readonly id: string }>(
  'console.audit_horizon',
  `SELECT a.id FROM audit a WHERE ${BEHIND} ORDER BY a.at DESC, a.id DESC OFFSET ${EXAMINED_MAX - 1} LIMIT 1`,
)

const selectAudit = statement<
  [
    cursor: string | null,
    horizon: string | null,
    actor: string | null,
    action: string | null,
    subject: string | null,
    limit: number,
  ],
  AuditListed
>(
  'console.audit',
  `SELECT a.id, a.at, a.actor, a.action, a.subject, a.address, a.facts,
          coalesce(a.actor_name, (SELECT c.name FROM credential c WHERE c.id::text = a.actor)) AS "actorName"
     FROM audit a
    WHERE ${BEHIND}
      AND (a.at, a.id) >= (coalesce((SELECT b.at FROM audit b WHERE b.id = $2), '-infinity'),
                           coalesce($2::uuid, '00000000-0000-0000-0000-000000000000'))
      AND ($3::text IS NULL OR a.actor = $3) AND ($4::text IS NULL OR a.action = $4)
      AND ($5::text IS NULL OR a.subject = $5)
    ORDER BY a.at DESC, a.id DESC LIMIT $6`,
)

const selectUse = statement<[span: string, since: number], { readonly cents: string | null }>(
  'console.allowance',
  `SELECT sum(used_cents) AS cents FROM allowance WHERE scope = 'all' AND span = $1 AND bucket >= $2`,
)

/** Limits of the service with their use; those of API keys are at the keys. */
async function limitsOf({ database, clock, config }: SystemNeeds): Promise<System['limits']> {
  const { caps } = config.limits
  const maxOf = (cents: bigint | null) => (cents === null ? null : Number(cents))
  const used = async (span: Span) => {
    const since = windowStart(span, clock.now())
    if (since === null) return 0
    return Number((await database.rows(selectUse, [span, since]))[0]?.cents ?? 0)
  }
  return [
    { name: 'payment', maxCents: maxOf(caps.paymentCents), usedCents: null },
    { name: 'hour', maxCents: maxOf(caps.hourCents), usedCents: await used('hour') },
    { name: 'day', maxCents: maxOf(caps.dayCents), usedCents: await used('day') },
    { name: 'night', maxCents: maxOf(caps.nightCents), usedCents: await used('night') },
    { name: 'new_recipient', maxCents: maxOf(caps.newRecipientCents), usedCents: null },
  ]
}
