import { copyFile, mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type pg from 'pg'
import { freePort } from '../packages/server/src/platform/ports.ts'
import type { Benchmark } from './benchmark.ts'
import { type Measured, measureCost, WATCHED, type WatchedDatabase } from './cost.ts'
import { type Profile, profileDuring, selfTimes, stacksOf } from './cpu-profile.ts'
import { flameGraph } from './flame-graph.ts'
import { startLiving, subjects } from './lives.ts'
import { DATABASE } from './pixgate.ts'

const CALLERS = 64

/** How many functions and statements are named. */
const TOP = 30

/** PostgreSQL counts triggers' statements too, and explains some. */
const EXPLAINED = {
  ...WATCHED,
  shared_preload_libraries: 'pg_stat_statements,auto_explain',
  'pg_stat_statements.track': 'all',
  log_line_prefix: '%Q ',
  log_parameter_max_length: '0',
}

/** While nothing is measured: every statement is logged with its name, and one in a hundred is explained. */
const LOGGED = {
  log_min_duration_statement: '0',
  'auto_explain.log_min_duration': '0',
  'auto_explain.sample_rate': '0.01',
  'auto_explain.log_analyze': 'on',
  'auto_explain.log_buffers': 'on',
  'auto_explain.log_nested_statements': 'on',
}

/** While it is measured: so few that it costs nothing, and the long ones, which are rare, so that they have names too. */
const UNLOGGED = {
  log_min_duration_statement: '20',
  log_min_duration_sample: '0',
  log_statement_sample_rate: '0.02',
  'auto_explain.log_min_duration': '-1',
}

/** Where the time of server and database goes, under a payout's life or another. */
export const profile: Benchmark = {
  name: 'profile',
  summary: "the functions and statements that a payout's life spends its time in, and a flame graph",
  options: ['callers', 'of'],
  isKept: false,
  run: async (after, options) => {
    const [call = 'payout'] = options.of ?? []
    const subject = subjects.find((one) => one.call === call)
    if (subject === undefined) throw new Error(`there is no ${call}: ${subjects.map((one) => one.call).join(', ')}`)
    const inspectorPort = await freePort(9_300)
    const living = await startLiving(after, subject, { postgres: EXPLAINED, inspectorPort })
    const { callers, watched } = living
    const load = living.loadOf(options.callers?.[0] ?? CALLERS)
    const database = watched.database as WatchedDatabase

    await setAll(database.client, LOGGED)
    await callers.run({ ...load, payments: Math.ceil(load.payments / 2) })
    await setAll(database.client, UNLOGGED)
    await callers.run({ ...load, payments: Math.ceil(load.payments / 4) })
    await database.client.query('SELECT pg_stat_statements_reset()')
    const measured = Promise.withResolvers<Measured>()
    const recorded = await profileDuring(inspectorPort, async () =>
      measured.resolve(await measureCost(watched, load.payments, () => callers.run(load))),
    )
    const names = await namesIn(database.log)
    return {
      figures: [{ 'who, callers': `${call}, ${load.callers}`, ...(await measured.promise) }],
      targets: [],
      notes: [
        { title: 'The server’s main thread', lines: selfTimes(recorded).slice(0, TOP) },
        { title: 'PostgreSQL, a payment', lines: await statementsOf(database.client, names, load.payments) },
        { title: 'Kept', lines: await kept(recorded, database.log) },
      ],
    }
  },
}

async function setAll(client: pg.Client, settings: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, value] of Object.entries(settings)) await client.query(`ALTER SYSTEM SET ${name} = '${value}'`)
  await client.query('SELECT pg_reload_conf()')
}

const NAMED = /^(-?\d+) LOG: {2}duration: [\d.]+ ms {2}execute ([^\s:]+): /gm

/** The names that the project gives its statements, by the ids that PostgreSQL does. */
async function namesIn(log: string): Promise<Map<string, string>> {
  const lines = (await readFile(log, 'utf8')).matchAll(NAMED)
  return new Map([...lines].map(([, id = '', name = '']) => [id, name]))
}

const STATEMENTS = `
  SELECT queryid::text AS id, toplevel AS "isTop", left(regexp_replace(query, '\\s+', ' ', 'g'), 70) AS text,
         calls::float8, total_exec_time * 1000 AS us, rows::float8, wal_bytes::float8 AS wal, wal_fpi::float8 AS images
    FROM pg_stat_statements JOIN pg_database ON oid = dbid
   WHERE datname = $1
   ORDER BY total_exec_time DESC LIMIT $2`

/** Those that took longest in all, and what they cost a payment. */
async function statementsOf(client: pg.Client, names: ReadonlyMap<string, string>, payments: number) {
  const { rows } = await client.query(STATEMENTS, [DATABASE, TOP])
  return rows.map(({ id, isTop, text, calls, us, rows: returned, wal, images }) => ({
    statement: names.get(id) ?? text,
    'of a trigger': isTop ? '' : 'yes',
    us: us / payments,
    calls: calls / payments,
    'us a call': us / calls,
    rows: returned / payments,
    'log bytes': wal / payments,
    'whole pages': images / payments,
  }))
}

/** Writes what others open. @returns where it is */
async function kept(recorded: Profile, log: string) {
  const directory = await mkdtemp(join(tmpdir(), 'pixgate-profile-'))
  const stacks = stacksOf(recorded)
  const folded = [...stacks].map(([stack, us]) => `${stack} ${Math.round(us)}\n`).join('')
  await writeFile(join(directory, 'flame.svg'), flameGraph(stacks))
  await writeFile(join(directory, 'stacks.folded'), folded)
  await writeFile(join(directory, 'server.cpuprofile'), JSON.stringify(recorded))
  await copyFile(log, join(directory, 'plans.log'))
  return [
    { file: join(directory, 'flame.svg'), what: 'the flame graph, for a browser' },
    { file: join(directory, 'stacks.folded'), what: 'the same as text, microseconds by stack' },
    { file: join(directory, 'server.cpuprofile'), what: 'the same for the tools of a browser' },
    { file: join(directory, 'plans.log'), what: 'what auto_explain told of one statement in a hundred' },
  ]
}
