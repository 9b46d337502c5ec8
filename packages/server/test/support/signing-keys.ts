import { pino } from 'pino'
import type { Clock } from '../../src/platform/clock.ts'
import { type Database, statement } from '../../src/platform/db/database.ts'
import { createSealer, type EncryptionKeys, type Place } from '../../src/platform/sealing.ts'
import { type Keyring, openKeyring, type Signer } from '../../src/webhooks/signing.ts'
import { administer } from './database.ts'
import { wallNow } from './wall-clock.ts'

const logger = pino({ level: 'silent' })

/** The keyring of a process with these encryption keys; it makes the first signing key. */
export function keyringOf(database: Database, keys: EncryptionKeys, clock: Clock = { now: wallNow }): Promise<Keyring> {
  return openKeyring({ database, clock, logger, sealer: createSealer(keys) })
}

/** What such a process signs with. */
export async function signerOf(database: Database, keys: EncryptionKeys, clock?: Clock): Promise<Signer> {
  return (await keyringOf(database, keys, clock)).signer()
}

/** A signing key as it is stored. */
export interface SigningKeyRow {
  readonly id: string
  readonly privateKey: Buffer | null
}

const selectSigningKeys = statement<[], SigningKeyRow>(
  'test.signingKeys',
  'SELECT id, private_key AS "privateKey" FROM signing_key ORDER BY published_at, id',
)

/** All of them, the oldest first. */
export function signingKeyRows(database: Database): Promise<SigningKeyRow[]> {
  return database.rows(selectSigningKeys, [])
}

/** Where the private half of a signing key is sealed. */
export function placeOfKey(id: string): Place {
  return { table: 'signing_key', row: id, column: 'private_key' }
}

/** Puts something in the place of a private half, as the owner of the database at this address. */
export async function setPrivateKey(url: string, id: string, privateKey: Buffer): Promise<void> {
  const bytes = `'\\x${privateKey.toString('hex')}'::bytea`
  await administer(url, `UPDATE signing_key SET private_key = ${bytes} WHERE id = '${id}'`)
}

/** A row of the audit trail. */
export interface AuditedRow {
  readonly actor: string
  readonly action: string
  readonly subject: string
  readonly address: string
  readonly facts: Readonly<Record<string, unknown>>
}

const selectAudit = statement<[], AuditedRow>(
  'test.auditOfKeys',
  `SELECT actor, action, subject, address, facts FROM audit WHERE action ~ '^(signing_key|webhook_secret)[.]' ORDER BY at, id`,
)

/** What the audit trail has of signing keys, and of secrets that were sealed anew. */
export function auditOfKeys(database: Database): Promise<AuditedRow[]> {
  return database.rows(selectAudit, [])
}
