import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import test from 'node:test'
import { fileURLToPath } from 'node:url'
import { administer, testDatabase } from '../support/database.ts'
import { audit } from '../support/evidence.ts'
import { PROGRAM_ENVIRONMENT } from '../support/program-environment.ts'

const PROGRAM = fileURLToPath(new URL('../../bin/pixgate.mjs', import.meta.url))
const DOCUMENT = '111.444.777-35'
const ORDER = ['--by', 'ana', '--reason', 'request 17 of the subject']

/** Runs the program as an installation does, with the address of its database and no other setting. */
async function exportSubject(databaseUrl: string, input: string, ...parameters: string[]) {
  const child = spawn(process.execPath, [PROGRAM, 'export-subject', ...parameters], {
    env: { ...PROGRAM_ENVIRONMENT, DATABASE_URL: databaseUrl },
  })
  child.stdin.on('error', () => undefined).end(input)
  const code = new Promise((resolve) => child.on('close', resolve))
  return { stdout: await text(child.stdout), stderr: await text(child.stderr), code: await code }
}

test('[privacy.9] who asks and why is in the audit trail, the document masked; whom it is about is read from standard input', async (t) => {
  const { url, database } = await testDatabase(t)
  const { code, stdout, stderr } = await exportSubject(url, `${DOCUMENT}\n`, ...ORDER)
  assert.deepEqual([code, stderr], [0, ''])
  const { takenAt, ...found } = JSON.parse(stdout)
  assert.deepEqual(found, {
    subject: '11144477735',
    operations: [],
    callbacks: [],
    cases: [],
    caseSteps: [],
    audit: [],
  })
  const [row, ...more] = await audit(database)
  assert.deepEqual(more, [])
  assert.deepEqual([row?.actor, row?.action, row?.subject], ['ana', 'personal_data.exported', '***.444.777-**'])
  assert.deepEqual(row?.facts, {
    reason: 'request 17 of the subject',
    found: { operations: 0, callbacks: 0, cases: 0, audit: 0 },
  })
  assert.equal(row?.at, Date.parse(takenAt))
})

test('[privacy.9] what cannot be audited is not printed, and no error repeats whom it was about', async (t) => {
  const { url, database } = await testDatabase(t)
  const refused = async (input: string, reason: RegExp, ...parameters: string[]) => {
    const { code, stdout, stderr } = await exportSubject(url, input, ...parameters)
    assert.deepEqual([code, stdout], [2, ''])
    assert.match(stderr, reason)
    assert.ok(!stderr.includes(input.trim() || '\0'), stderr)
  }
  await refused(DOCUMENT, /Usage: pixgate export-subject --by NAME/)
  await refused(DOCUMENT, /Usage/, '--by', 'ana', '--reason', ' ')
  await refused('111.444.777-99', /neither CPF, CNPJ nor Pix key/, ...ORDER)
  await refused('', /neither CPF/, ...ORDER)
  await administer(url, 'REVOKE INSERT ON audit FROM pixgate_app')
  await refused(DOCUMENT, /permission denied for table audit/, ...ORDER)
  assert.deepEqual(await audit(database), [])
})
