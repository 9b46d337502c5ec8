import { randomBytes } from 'node:crypto'
import { mkdir, open, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Config } from './config.ts'

/** The secrets a start needs. */
export interface Secrets {
  readonly adminToken: string
  readonly encryptionKey: string
  readonly partnerToken: string
  readonly partnerSecret: string
}

/**
 * The configured secrets; in the sandbox, what is not configured is made once and kept in the data directory, readable
 * by its owner only. Production has them all: the configuration was refused otherwise.
 * @source rules#config.3
 */
export async function sandboxSecrets(config: Config): Promise<Secrets> {
  const configured = {
    adminToken: config.adminToken,
    encryptionKey: config.encryptionKey,
    partnerToken: config.partner.token,
    partnerSecret: config.partner.secret,
  }
  const made = Object.values(configured).includes(undefined) ? await keptSecrets(config.dataDirectory) : undefined
  return {
    adminToken: configured.adminToken ?? made?.adminToken ?? '',
    encryptionKey: configured.encryptionKey ?? made?.encryptionKey ?? '',
    partnerToken: configured.partnerToken ?? made?.partnerToken ?? '',
    partnerSecret: configured.partnerSecret ?? made?.partnerSecret ?? '',
  }
}

async function keptSecrets(dataDirectory: string): Promise<Secrets> {
  await mkdir(dataDirectory, { recursive: true })
  const path = join(dataDirectory, 'sandbox-secrets.json')
  try {
    const file = await open(path, 'wx', 0o600)
    const secrets: Secrets = {
      adminToken: secretText(),
      encryptionKey: secretText(),
      partnerToken: secretText(),
      partnerSecret: secretText(),
    }
    await file.writeFile(`${JSON.stringify(secrets, null, 2)}\n`)
    await file.sync()
    await file.close()
    return secrets
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    return JSON.parse(await readFile(path, 'utf8')) as Secrets
  }
}

function secretText(): string {
  return randomBytes(32).toString('base64url')
}
