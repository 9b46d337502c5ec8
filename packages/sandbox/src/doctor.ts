import { bad, type EncryptionKeys, type Examined, type Finding, good, runDoctor, urlOf } from '@pixgate/server'
import { allowedNetworksOf, pixgate } from '@pixgate/server/config'
import { readSandboxConfig, type SandboxConfig } from './config.ts'
import { runningPostgres } from './postgres/running.ts'
import { type Running, runningSandbox } from './running-sandbox.ts'
import { readSecrets } from './secrets.ts'

/**
 * Entry point of `npm run doctor` if the sandbox is installed: examines the configured database and bank, and those of the
 * sandbox if they are running.
 * @source rules#doctor.1
 */
process.exitCode = await runDoctor(async (environment, places) => {
  const config = readSandboxConfig(environment, places)
  const { given, bank } = config
  const url = urlOf({ host: given.HOST, port: given.PORT })
  const isBankGiven = 'other' in bank || bank.partner.PIXGATE_PARTNER_URL
  const running = given.DATABASE_URL && isBankGiven ? { url } : await runningSandbox(url)
  return {
    mode: given.PIXGATE_MODE,
    migrationUrl: given.PIXGATE_MIGRATION_URL,
    webhookAllowPrivate: given.PIXGATE_WEBHOOK_ALLOW_PRIVATE,
    webhookAllowedNetworks: allowedNetworksOf(given.PIXGATE_WEBHOOK_ALLOWED_NETWORKS ?? ''),
    database:
      given.DATABASE_URL ??
      (await embeddedDatabase(config, running).catch(unreadable('database', "the sandbox's own database"))),
    encryptionKeys: await encryptionKeys(config).catch(unreadable('encryption key', "the sandbox's own key")),
    bank: bankOf(config, running),
  }
})

/** URL of the sandbox's own database, or a finding if it is not running. */
async function embeddedDatabase({ dataDirectory }: SandboxConfig, running: Running): Promise<string | Finding> {
  const url = await runningPostgres(dataDirectory)
  if (url !== undefined && url !== 'stopped') return url
  const reason = running.readiness?.dependencies.database.reason
  const problem = running.problem ?? (reason && `reports: ${reason}`)
  if (problem === undefined) return good('database', "the sandbox's own database is not running; npm start starts it")
  return bad('database', `the sandbox's own database is not running, and the sandbox at ${running.url} ${problem}`)
}

/** The configured encryption keys, or the key that a sandbox has generated, if any. */
async function encryptionKeys({ given, dataDirectory }: SandboxConfig): Promise<EncryptionKeys | undefined> {
  const current = given.PIXGATE_ENCRYPTION_KEY ?? (await readSecrets(dataDirectory))?.encryptionKey
  return current === undefined ? undefined : { current, previous: given.PIXGATE_ENCRYPTION_KEY_PREVIOUS }
}

/** Finding for files of a sandbox that cannot be read. */
function unreadable(check: string, what: string): (error: NodeJS.ErrnoException) => Finding {
  return ({ code, message }) => {
    const advice = code === 'EACCES' || code === 'EPERM' ? ': run this as the user that runs the sandbox' : ''
    return bad(check, `${what} cannot be read: ${message}${advice}`)
  }
}

function bankOf({ bank }: SandboxConfig, running: Running): Examined['bank'] {
  if ('other' in bank) return bank.other
  const { PIXGATE_PARTNER_URL, PIXGATE_PARTNER_TOKEN, PIXGATE_PARTNER_SECRET = '' } = bank.partner
  if (PIXGATE_PARTNER_URL === undefined) return simulatedBank(running)
  if (PIXGATE_PARTNER_TOKEN !== undefined) {
    return pixgate.configure({ ...bank.partner, PIXGATE_PARTNER_URL, PIXGATE_PARTNER_TOKEN, PIXGATE_PARTNER_SECRET })
  }
  return bad('bank', 'PIXGATE_PARTNER_TOKEN is not set: set the token of your bank, which accepts no generated one')
}

/** Finding about the simulated bank, as the running sandbox reports it: only the sandbox knows the bank's port. */
function simulatedBank({ url, problem, readiness }: Running): Finding {
  if (problem !== undefined) return bad('bank', `the sandbox at ${url} ${problem}`)
  if (readiness === undefined) return good('bank', 'the simulated bank is not running; npm start starts it')
  const { status, reason } = readiness.dependencies.bank
  if (reason !== undefined) return bad('bank', `the sandbox at ${url} reports: ${reason}`)
  return good(
    'bank',
    status === 'ok'
      ? 'the simulated bank responds to the sandbox'
      : 'the sandbox has not called the simulated bank yet',
  )
}
