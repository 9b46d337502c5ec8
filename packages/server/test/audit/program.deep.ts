import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { ROOT } from '../../../../scripts/check/repository.ts'
import { positionText } from '../../src/audit/chain.ts'
import { administer } from '../support/database.ts'
import { as, login } from '../support/logins.ts'
import { PROGRAM_ENVIRONMENT } from '../support/program-environment.ts'
import { faultsOf, RECHAIN, rowId, trailOf } from './fixture.ts'

const PROGRAMS = {
  'npm run verify-audit': [join(ROOT, 'scripts/program.ts'), 'verify-audit'],
  'pixgate verify-audit': [join(ROOT, 'packages/server/bin/pixgate.mjs'), 'verify-audit'],
}

const PIXGATE_ENCRYPTION_KEY = 'encryption-key-of-the-audit-tests-0123456789'

interface Ended {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

for (const [name, program] of Object.entries(PROGRAMS)) {
  const verifyAudit = (env: Record<string, string>, ...parameters: string[]): Promise<Ended> =>
    new Promise((resolve) => {
      const options = { cwd: tmpdir(), env: { ...PROGRAM_ENVIRONMENT, ...env } }
      execFile(process.execPath, [...program, ...parameters], options, (error, stdout, stderr) =>
        resolve({ code: error ? Number(error.code) : 0, stdout, stderr }),
      )
    })

  test(`[audit.4] ${name} ends with 0 where the trail is right, with 1 where it is not, and needs to read and nothing else`, async (t) => {
    const { url, anchor, add, head, tamper, verify } = await trailOf(t, 3)
    await anchor()
    await add(1)
    const noted = positionText(await head())
    const DATABASE_URL = as(url, await login(t, 'IN ROLE pg_read_all_data'))
    const right = await verifyAudit({ DATABASE_URL, PIXGATE_ENCRYPTION_KEY }, '--head', noted)
    assert.deepEqual(right, {
      code: 0,
      stdout: `4 rows are as they were written, 1 signed heads, 1 given\nhead ${noted}\n`,
      stderr: '',
    })
    const other = await verifyAudit({ DATABASE_URL, PIXGATE_ENCRYPTION_KEY: 'another-key-of-32-characters-or-more' })
    assert.equal(other.code, 0)
    assert.match(
      other.stdout,
      /\n1 heads were signed with another key than PIXGATE_ENCRYPTION_KEY, and than the one before it: they prove nothing\n$/,
    )
    const replaced = {
      PIXGATE_ENCRYPTION_KEY: 'another-key-of-32-characters-or-more',
      PIXGATE_ENCRYPTION_KEY_PREVIOUS: PIXGATE_ENCRYPTION_KEY,
    }
    assert.deepEqual(await verifyAudit({ DATABASE_URL, ...replaced }, '--head', noted), right)

    await tamper(`DELETE FROM audit WHERE id = '${rowId(4)}'; ${RECHAIN}`)
    assert.deepEqual(faultsOf(await verify()), [])
    const cut = await verifyAudit({ DATABASE_URL, PIXGATE_ENCRYPTION_KEY }, '--head', noted)
    assert.equal(cut.code, 1)
    assert.match(cut.stdout, /\n✘ row 4 is missing: a head was noted there\n$/)
    await tamper(`UPDATE audit SET actor = 'x' WHERE id = '${rowId(2)}'`)
    const json = await verifyAudit({ DATABASE_URL, PIXGATE_ENCRYPTION_KEY }, '--json')
    assert.equal(json.code, 1)
    const { rows, anchors, unproven, faults } = JSON.parse(json.stdout)
    assert.deepEqual([rows, anchors, unproven, faults.length, faults[0].row], [1, 1, 0, 1, 2])
  })

  test(`[audit.4] ${name} ends with 2 where it could not look`, async (t) => {
    const { url } = await trailOf(t, 0)
    const nowhere = { DATABASE_URL: 'postgres://127.0.0.1:1/none' }
    const cases: [Record<string, string>, string[], RegExp][] = [
      [nowhere, [], /ECONNREFUSED/],
      [{ DATABASE_URL: url }, ['--head', '17'], /17 is no head\. Usage: /],
      [{ DATABASE_URL: url }, ['--head', `x:${'0'.repeat(64)}`], /is no head/],
      [{ DATABASE_URL: url }, ['--all'], /--all/],
    ]
    for (const [env, parameters, message] of cases) {
      const { code, stdout, stderr } = await verifyAudit(env, ...parameters)
      assert.deepEqual([code, stdout], [2, ''], parameters.join(' '))
      assert.match(stderr, message)
    }
    await administer(url, 'DROP TABLE audit_anchor')
    assert.equal((await verifyAudit({ DATABASE_URL: url })).code, 2)
  })
}
