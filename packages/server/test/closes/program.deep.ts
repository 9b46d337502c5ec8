import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { ROOT } from '../../../../scripts/check/repository.ts'
import { dayAfter } from '../../src/platform/sao-paulo.ts'
import { administer } from '../support/database.ts'
import { as, login } from '../support/logins.ts'
import { PROGRAM_ENVIRONMENT } from '../support/program-environment.ts'
import { readCsv } from './csv-reading.ts'
import { closeWorld } from './fixture.ts'

const PROGRAMS = {
  'npm run close': [join(ROOT, 'scripts/program.ts'), 'close'],
  'pixgate close': [join(ROOT, 'packages/server/bin/pixgate.mjs'), 'close'],
}

interface Ended {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

for (const [name, program] of Object.entries(PROGRAMS)) {
  const run = (env: Record<string, string>, ...parameters: string[]): Promise<Ended> =>
    new Promise((resolve) => {
      const options = { cwd: tmpdir(), env: { ...PROGRAM_ENVIRONMENT, ...env } }
      execFile(process.execPath, [...program, ...parameters], options, (error, stdout, stderr) =>
        resolve({ code: error ? Number(error.code) : 0, stdout, stderr }),
      )
    })

  test(`[close.9] ${name} ends with 0 where the day balances, with 1 where it differs, with 2 where it could not look, and needs to read and nothing else`, async (t) => {
    const pix = await closeWorld(t)
    await pix.balance(10_00)
    const day = await pix.endDay()
    const reader = as(pix.databaseUrl, await login(t, 'IN ROLE pg_read_all_data'))
    const env = { DATABASE_URL: reader }
    const text = await run(env, '--day', day)
    assert.deepEqual([text.code, text.stderr], [0, ''])
    assert.match(text.stdout, new RegExp(`^${day}, closed at .*: BALANCED\n`))
    assert.match(text.stdout, /\nbank 10\.00, books 10\.00\n/)
    const json = await run(env, '--day', day, '--format', 'json')
    assert.deepEqual(JSON.parse(json.stdout), { ...(await pix.close(day)), isGenuine: true })
    const csv = await run(env, '--day', day, '--format', 'csv')
    assert.deepEqual(
      readCsv(csv.stdout).map(({ Saldo }) => Saldo),
      ['10.00'],
    )
    const account = { ...env, PIXGATE_OFX_ACCOUNT: '341/12345-6' }
    const ofx = (await run(account, '--day', day, '--format', 'ofx')).stdout
    assert.match(ofx, /<ACCTID>12345-6<\/ACCTID>[\s\S]*<BALAMT>10\.00<\/BALAMT>/)

    const unknown = ['2020-01-01', 'today', dayAfter(day, -1), pix.today(), dayAfter(pix.today(), 40)]
    for (const wrong of [...unknown.map((one) => ['--day', one]), [], ['--day', day, '--format', 'xls']]) {
      const { code, stderr } = await run(env, ...wrong)
      assert.equal(code, 2, wrong.join(' '))
      assert.match(stderr, /^close: /)
    }
    assert.equal((await run({ ...env, DATABASE_URL: 'postgres://127.0.0.1:9/none' }, '--day', day)).code, 2)

    await pix.bank('PUT', '/control/lies', { perThousand: { balanceShort: 1_000 } })
    const differing = await pix.endDay()
    assert.equal((await run(env, '--day', differing)).code, 1)
    assert.equal((await run(env, '--day', day)).code, 0)

    await administer(
      pix.databaseUrl,
      `SET session_replication_role = replica;
       UPDATE daily_close SET content = replace(content, '"to"', '"To"') WHERE day = '${day}'`,
    )
    const tampered = await run(env, '--day', day)
    assert.equal(tampered.code, 1)
    assert.notEqual(tampered.stderr, '')
  })
}
