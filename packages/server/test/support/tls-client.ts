import { pino } from 'pino'
import { readPartnerTls } from '../../src/banks/certificates.ts'
import { openPartnerLink } from '../../src/banks/link.ts'
import { errorCode } from '../../src/platform/connection-problem.ts'
import { openDatabase } from '../../src/platform/db/database.ts'
import { migrate } from '../../src/platform/db/migrate.ts'
import { checkDatabase } from '../../src/platform/db/self-check.ts'
import { withSnapshot } from '../../src/platform/db/snapshot.ts'
import { createGuardedAgent, openGate } from '../../src/platform/http-client/agent.ts'
import { post } from '../../src/platform/http-client/post.ts'

/**
 * A process that calls out in every way that the server does, with the environment that a test gives it: its first argument is
 * an HTTPS address, its second one of a database. Prints as JSON what came of each.
 */
const [, , httpsUrl = '', databaseUrl = ''] = process.argv

const query = { name: 'test.one', text: 'SELECT 1' }
const logger = pino({ enabled: false })

async function callBank(): Promise<string> {
  const { tls } = readPartnerTls(process.env)
  const link = openPartnerLink({ url: httpsUrl, token: 'canary', timeoutMs: 3_000, tls })
  const outcome = await link.exchange({ method: 'GET', path: '/statement' })
  await link.close()
  return outcome.kind === 'answered' ? `${outcome.httpStatus}` : `${outcome.kind}: ${outcome.reason}`
}

async function callReceiver(): Promise<string> {
  const agent = createGuardedAgent(openGate(), 3_000)
  const bounds = { timeoutMs: 3_000, responseMaxBytes: 1_024, responseTimeoutMs: 1_000 }
  const { answer } = await post(agent, { url: httpsUrl, headers: {}, body: Buffer.from('{}'), ...bounds })
  await agent.destroy()
  return 'statusCode' in answer ? `${answer.statusCode}` : `${answer.failure}: ${answer.code}`
}

async function withPool(): Promise<unknown> {
  const database = openDatabase({ url: databaseUrl, name: 'test', connections: 1, logger })
  return database.rows(query, []).finally(() => database.close())
}

const outcomeOf = (work: Promise<unknown>) =>
  work.then(
    () => 'connected',
    (error: unknown) => errorCode(error) ?? String(error),
  )

const outcomes = {
  bank: await callBank(),
  receiver: await callReceiver(),
  ...(databaseUrl !== '' && {
    pool: await outcomeOf(withPool()),
    check: await outcomeOf(checkDatabase(databaseUrl)),
    snapshot: await outcomeOf(withSnapshot({ url: databaseUrl, name: 'test' }, (queries) => queries.rows(query, []))),
    migrate: await outcomeOf(migrate(databaseUrl, [])),
  }),
}
process.stdout.write(JSON.stringify(outcomes))
