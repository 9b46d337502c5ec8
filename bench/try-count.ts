import pg from 'pg'
import { fund } from './contestants/reserve.ts'
import { openEngine, reserve } from './contestants/engine.ts'
import { startPostgres } from './postgres.ts'
import { measure } from './measure.ts'
const stops: any[] = []
const after = (s: any) => stops.push(s)
try {
  const url = await (await startPostgres(after))('x')
  const { engine, ids, database } = openEngine(url)
  await engine.execute(fund())
  let calls = 0
  for (const callers of [1, 64, 256]) console.log(callers, await measure(async () => { await engine.execute(reserve(ids)); calls++ }, { callers, warmUpMs: 1000, measuredMs: 3000 }))
  const c = new pg.Client({ connectionString: url }); await c.connect()
  console.log(calls, (await c.query(`select (select count(*) from operation) o, (select count(*) from move) m, (select count(*) from entry) e, (select count(distinct batch_id) from move) b, (select json_agg(a) from account a where version>0) a, current_setting('fsync') f, current_setting('synchronous_commit') s`)).rows)
  console.log((await c.query('select * from pg_stat_wal')).rows)
  await c.end(); await database.close()
} finally { for (const s of stops.reverse()) await s() }
