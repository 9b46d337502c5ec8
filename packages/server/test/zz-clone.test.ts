import test from 'node:test'
import { administer } from './support/database.ts'
import { TEMPLATE } from './support/database-cluster.ts'
test('x', async () => {
  const c = process.env.PIXGATE_TEST_DATABASE_URL!
  for (const s of ['file_copy','wal_log','file_copy','wal_log']) {
    const t0 = performance.now()
    for (let i=0;i<8;i++) { await administer(c, `CREATE DATABASE x${s}${i} TEMPLATE ${TEMPLATE} STRATEGY ${s}`) }
    const t1 = performance.now()
    for (let i=0;i<8;i++) { await administer(c, `DROP DATABASE x${s}${i} WITH (FORCE)`) }
    console.log(s, Math.round((t1-t0)/8), 'drop', Math.round((performance.now()-t1)/8))
  }
})
