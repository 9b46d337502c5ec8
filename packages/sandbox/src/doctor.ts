import { type Examined, type Finding, openPartnerLink, runDoctor } from '@pixgate/server'
import { pixgate } from '@pixgate/server/config'
import type { Readiness } from '@pixgate/spec'
import { readSandboxConfig, type SandboxConfig } from './config.ts'
import { runningPostgres } from './postgres/running.ts'
import { urlOf } from './start.ts'

/**
 * What `npm run doctor` runs where the sandbox is installed: examines what is configured, and of what the sandbox brings,
 * what runs now.
 * @source rules#doctor.1
 */
process.exitCode = await runDoctor(async (environment, places) => {
  const config = readSandboxConfig(environment, places)
  const { PIXGATE_MODE: mode, PIXGATE_WEBHOOK_ALLOW_PRIVATE: webhookAllowPrivate } = config.given
  return { mode, webhookAllowPrivate, database: await databaseOf(config), bank: await bankOf(config) }
})

async function databaseOf({ given, dataDirectory }: SandboxConfig): Promise<string | Finding> {
  if (given.DATABASE_URL !== undefined) return given.DATABASE_URL
  const url = await runningPostgres(dataDirectory)
  if (url !== undefined && url !== 'stopped') return url
  return { isOk: true, check: 'database', says: "the sandbox's own does not run now; npm start starts it" }
}

async function bankOf({ given }: SandboxConfig): Promise<Examined['bank']> {
  const { PIXGATE_PARTNER_URL, PIXGATE_PARTNER_TOKEN, PIXGATE_PARTNER_SECRET = '' } = given
  if (PIXGATE_PARTNER_URL === undefined) return simulatedBank(urlOf({ host: given.HOST, port: given.PORT }))
  if (PIXGATE_PARTNER_TOKEN !== undefined) {
    return pixgate.configure({ ...given, PIXGATE_PARTNER_URL, PIXGATE_PARTNER_TOKEN, PIXGATE_PARTNER_SECRET })
  }
  const says = 'PIXGATE_PARTNER_TOKEN is not set: a bank of yours does not know the one that the sandbox makes'
  return { isOk: false, check: 'bank', says }
}

/** The sandbox's own bank, as the sandbox sees it that runs at an address: nobody else knows its port. */
async function simulatedBank(url: string): Promise<Finding> {
  const link = openPartnerLink({ url, token: '', timeoutMs: 2_000 })
  const answer = await link.exchange({ method: 'GET', path: '/readyz' }).finally(() => link.close())
  const { dependencies } = ((answer.kind === 'answered' && answer.json) || {}) as Partial<Readiness>
  const { status, reason } = dependencies?.bank ?? {}
  if (reason !== undefined) return { isOk: false, check: 'bank', says: `the sandbox at ${url} says: ${reason}` }
  const says = {
    ok: 'the simulated one answers the sandbox',
    unknown: 'the simulated one was not called yet by the sandbox',
  }
  const known = status === 'ok' || status === 'unknown' ? says[status] : undefined
  return { isOk: true, check: 'bank', says: known ?? 'the simulated one does not run now; npm start starts it' }
}
