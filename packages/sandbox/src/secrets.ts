import { randomBytes, randomUUID } from 'node:crypto'
import { readFile, unlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { StartupError } from '@pixgate/server'
import type { PartnerGiven, SandboxConfig } from './config.ts'
import { DATA_DIRECTORY_MODE, makeFolder, publishFile, unlessMissing } from './postgres/durable-files.ts'

/** Secrets that a start needs. */
export interface Secrets {
  readonly adminToken: string
  readonly encryptionKey: string
  readonly partnerToken: string
  readonly partnerSecret: string
}

/**
 * The configured secrets of the service. Missing ones are generated once and kept in the data directory, readable only by
 * their owner.
 * @source rules#config.3
 */
export async function secretsOf({
  given,
  dataDirectory,
}: SandboxConfig): Promise<Pick<Secrets, 'adminToken' | 'encryptionKey'>> {
  const { PIXGATE_ADMIN_TOKEN: adminToken, PIXGATE_ENCRYPTION_KEY: encryptionKey } = given
  if (adminToken && encryptionKey) return { adminToken, encryptionKey }
  const kept = await keptSecrets(dataDirectory)
  return { adminToken: adminToken ?? kept.adminToken, encryptionKey: encryptionKey ?? kept.encryptionKey }
}

/** The same for the secrets between the service and a bank with the partner protocol. @source rules#config.3 */
export async function partnerSecretsOf(
  { PIXGATE_PARTNER_TOKEN: partnerToken, PIXGATE_PARTNER_SECRET: partnerSecret }: PartnerGiven,
  dataDirectory: string,
): Promise<Pick<Secrets, 'partnerToken' | 'partnerSecret'>> {
  if (partnerToken && partnerSecret) return { partnerToken, partnerSecret }
  const kept = await keptSecrets(dataDirectory)
  return { partnerToken: partnerToken ?? kept.partnerToken, partnerSecret: partnerSecret ?? kept.partnerSecret }
}

async function keptSecrets(dataDirectory: string): Promise<Secrets> {
  await makeFolder(dataDirectory, DATA_DIRECTORY_MODE)
  return (await readSecrets(dataDirectory)) ?? (await makeSecrets(dataDirectory))
}

/** Secrets that an earlier start generated; `undefined` if there are none. Generates nothing. */
export async function readSecrets(dataDirectory: string): Promise<Secrets | undefined> {
  const path = secretsIn(dataDirectory)
  const text = await unlessMissing(readFile(path, 'utf8'))
  if (text === undefined) return undefined
  try {
    return JSON.parse(text) as Secrets
  } catch (cause) {
    throw new StartupError(`${path} is damaged: restore it, or remove it and lose the signing key`, {
      cause,
    })
  }
}

/** Path of the generated secrets. */
export function secretsIn(dataDirectory: string): string {
  return join(dataDirectory, 'sandbox-secrets.json')
}

/** Generates the secrets. Of concurrent starts, one writes the file and all read it. */
async function makeSecrets(dataDirectory: string): Promise<Secrets> {
  const path = secretsIn(dataDirectory)
  const secrets: Secrets = {
    adminToken: secretText(),
    encryptionKey: secretText(),
    partnerToken: secretText(),
    partnerSecret: secretText(),
  }
  const finished = `${path}.${randomUUID()}`
  await writeFile(finished, `${JSON.stringify(secrets, null, 2)}\n`, { flag: 'wx', mode: 0o600, flush: true })
  await publishFile(finished, path).finally(() => unlink(finished))
  return JSON.parse(await readFile(path, 'utf8')) as Secrets
}

function secretText(): string {
  return randomBytes(32).toString('base64url')
}
