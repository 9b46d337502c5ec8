import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { createPrivateKey, type KeyObject } from 'node:crypto'
import test from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { createSealer } from '../../src/platform/sealing.ts'
import { testDatabase } from '../support/database.ts'
import { placeOfKey, signingKeyRows } from '../support/signing-keys.ts'
import { ENCRYPTION_KEY } from '../support/world.ts'

const PROGRAM = fileURLToPath(new URL('../support/signing-process.ts', import.meta.url))

const SNAPSHOT_MAX_BYTES = 512 * 1_024 * 1_024

/** Every way in which a private key could be written down, by what it is. */
function writtenDown(key: KeyObject): Readonly<Record<string, string>> {
  const number = Buffer.from(String(key.export({ format: 'jwk' }).d), 'base64url')
  // The lines after these are of the public half, which anybody may read.
  const lines = { pkcs8: 2, sec1: 1 } as const
  const pems = (['pkcs8', 'sec1'] as const).flatMap((type) =>
    String(key.export({ format: 'pem', type }))
      .split('\n')
      .slice(1, 1 + lines[type])
      .map((line, index) => [`line ${index + 1} of the PEM (${type})`, line] as const),
  )
  return {
    ...Object.fromEntries(pems),
    'the number in hexadecimal': number.toString('hex'),
    'the number in hexadecimal, in capitals': number.toString('hex').toUpperCase(),
    'the number in Base64': number.toString('base64').replace(/=+$/, ''),
    'the number in Base64, for URLs': number.toString('base64url'),
    'the number in decimal': BigInt(`0x${number.toString('hex')}`).toString(),
  }
}

/** What of a key is in a heap. */
function foundIn(snapshot: string, key: KeyObject): string[] {
  // A snapshot is JSON: `/` may be escaped in it.
  const text = snapshot.replaceAll('\\/', '/')
  return Object.entries(writtenDown(key)).flatMap(([what, written]) => (text.includes(written) ? [what] : []))
}

test('[encryption.5] a heap snapshot of a process that signs has the private half of its key in no form', async (t) => {
  const { url, database } = await testDatabase(t)
  const word = 'a word that the process keeps'
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--no-warnings', PROGRAM, url, ENCRYPTION_KEY, word],
    {
      maxBuffer: SNAPSHOT_MAX_BYTES,
    },
  )
  const end = stdout.lastIndexOf('\n')
  const [snapshot, kept] = [stdout.slice(0, end), createPrivateKey(JSON.parse(stdout.slice(end)))]
  const [row] = await signingKeyRows(database)
  assert.ok(row?.privateKey, 'the process made the key')
  const sealer = createSealer({ current: ENCRYPTION_KEY, previous: undefined })
  const { plain } = sealer.open(row.privateKey, placeOfKey(row.id))
  const privateKey = createPrivateKey({ key: plain, format: 'der', type: 'pkcs8' })
  assert.ok(snapshot.includes(word))
  assert.ok(snapshot.includes(row.id), 'the id of the key is in it')
  assert.deepEqual(
    foundIn(snapshot, kept),
    ['line 1 of the PEM (pkcs8)', 'line 2 of the PEM (pkcs8)'],
    'a PEM that is kept is found',
  )
  assert.deepEqual(foundIn(snapshot, privateKey), [])
})
