import { bad, type EncryptionKeys, type Examined, type Finding, good, runDoctor, urlOf } from '@pixgate/server'
import { pixgate } from '@pixgate/server/config'
import { readSandboxConfig, type SandboxConfig } from './config.ts'
import { runningPostgres } from './postgres/running.ts'
import { type Running, runningSandbox } from './running-sandbox.ts'
import { readSecrets } from './secrets.ts'

/**
 * What `npm run doctor` runs where the sandbox is installed: examines what is configured, and of what the sandbox brings,
 * what runs now.
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
    database:
      given.DATABASE_URL ?? (await embeddedDatabase(config, running).catch(unread('database', "the sandbox's own"))),
    encryptionKeys: await encryptionKeys(config).catch(unread('encryption key', 'the one that the sandbox made')),
    bank: bankOf(config, running),
  }
})

/** The address of the sandbox's own, or what is to be said where it does not run. */
async function embeddedDatabase({ dataDirectory }: SandboxConfig, running: Running): Promise<string | Finding> {
  const url = await runningPostgres(dataDirectory)
  if (url !== undefined && url !== 'stopped') return url
  const reason = running.readiness?.dependencies.database.reason
  const problem = running.problem ?? (reason && `says: ${reason}`)
  if (problem === undefined) return good('database', "the sandbox's own does not run now; npm start starts it")
  return bad('database', `the sandbox's own does not run, and the sandbox at ${running.url} ${problem}`)
}

/** What is configured, or the key that a sandbox has made there, if one has. */
async function encryptionKeys({ given, dataDirectory }: SandboxConfig): Promise<EncryptionKeys | undefined> {
  const current = given.PIXGATE_ENCRYPTION_KEY ?? (await readSecrets(dataDirectory))?.encryptionKey
  return current === undefined ? undefined : { current, previous: given.PIXGATE_ENCRYPTION_KEY_PREVIOUS }
}

/** What is to be said where the files of a sandbox cannot be read. */
function unread(check: string, what: string): (error: NodeJS.ErrnoException) => Finding {
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
  return bad('bank', 'PIXGATE_PARTNER_TOKEN is not set: a bank of yours does not know the one that the sandbox makes')
}

/** The sandbox's own bank, as the sandbox sees it that runs: nobody else knows its port. */
function simulatedBank({ url, problem, readiness }: Running): Finding {
  if (problem !== undefined) return bad('bank', `the sandbox at ${url} ${problem}`)
  if (readiness === undefined) return good('bank', 'the simulated one does not run now; npm start starts it')
  const { status, reason } = readiness.dependencies.bank
  if (reason !== undefined) return bad('bank', `the sandbox at ${url} says: ${reason}`)
  return good(
    'bank',
    status === 'ok' ? 'the simulated one answers the sandbox' : 'the simulated one was not called yet by the sandbox',
  )
}
