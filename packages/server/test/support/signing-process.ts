import { generateKeyPairSync } from 'node:crypto'
import { getHeapSnapshot } from 'node:v8'
import { pino } from 'pino'
import { openDatabase } from '../../src/platform/db/database.ts'
import { createSealer } from '../../src/platform/sealing.ts'
import { openKeyring } from '../../src/webhooks/signing.ts'
import { wallNow } from './wall-clock.ts'

/**
 * A process that makes the first signing key of a database and signs with it, then prints a heap snapshot of itself. Its
 * arguments: the database's address, the encryption key, and a word that it keeps. It also keeps the PEM of a key of no use, which
 * its last line is, to show that what is in the heap is found.
 */
const [, , url = '', current = '', word = ''] = process.argv

const logger = pino({ level: 'silent' })
const database = openDatabase({ url, name: 'test', connections: 1, logger })
const keyring = await openKeyring({
  database,
  clock: { now: wallNow },
  logger,
  sealer: createSealer({ current, previous: undefined }),
})
const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const kept = { word, pem: privateKey.export({ format: 'pem', type: 'pkcs8' }) }
for (let count = 0; count < 100; count++) keyring.signer().sign(Buffer.from(`notification ${count}`))
for await (const chunk of getHeapSnapshot()) process.stdout.write(chunk)
keyring.signer().sign(Buffer.from('it signs still'))
await database.close()
process.stdout.write(`\n${JSON.stringify(kept.pem)}`)
