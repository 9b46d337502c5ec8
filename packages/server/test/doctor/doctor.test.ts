import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import net, { type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import test, { type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { pino } from 'pino'
import type { ConfiguredBank } from '../../src/banks/bank.ts'
import { pixgate } from '../../src/banks/banks.ts'
import type { CertificateOwner } from '../../src/banks/certificates.ts'
import {
  examineBank,
  examineDatabase,
  examineEndpoints,
  type MigratedBy,
  type Permissions,
  permissionFaults,
} from '../../src/doctor/doctor.ts'
import { createDatabaseClock } from '../../src/platform/clock.ts'
import { type Finding, reportOf } from '../../src/platform/finding.ts'
import type { EncryptionKeys } from '../../src/platform/sealing.ts'
import { readVariables } from '../../src/platform/variables.ts'
import { migrateDatabase } from '../../src/prepare-database.ts'
import { boundsOf, type Reach } from '../../src/webhooks/endpoint-url.ts'
import { authorityOf, certificateOf, endedCertificate } from '../support/certificates.ts'
import { administer, testDatabase } from '../support/database.ts'
import { emptyDatabase } from '../support/empty-database.ts'
import { as, login, serverLogin } from '../support/logins.ts'
import { PROGRAM_ENVIRONMENT } from '../support/program-environment.ts'
import { NOT_SHIFTED } from '../support/shifted-clock.ts'
import { signerOf } from '../support/signing-keys.ts'
import { reachJudged } from '../support/tcp-proxy.ts'
import { wallNow } from '../support/wall-clock.ts'
import { ENVIRONMENT } from '../support/world.ts'

const PROGRAM = fileURLToPath(new URL('../../src/doctor/main.ts', import.meta.url))

const lines = (findings: readonly Finding[]) => reportOf(findings).split('\n')

/** A server of the test's on this machine. */
async function listening(t: TestContext, server: net.Server): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  return (server.address() as AddressInfo).port
}

const STATEMENT = { entries: [], openingCents: 0, closingCents: 0, nextCursor: null }

/** A bank that answers every call by a script; a statement without movements is the default. */
async function bankThat(t: TestContext, script: (response: ServerResponse) => void = () => undefined) {
  const asked: (string | undefined)[] = []
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url?.split('?')[0]} ${request.headers.authorization}`)
    script(response)
    response.end(JSON.stringify(STATEMENT))
  })
  return { url: `http://127.0.0.1:${await listening(t, server)}`, asked }
}

function configured(url: string): ConfiguredBank {
  const environment = { ...ENVIRONMENT, PIXGATE_PARTNER_URL: url }
  return pixgate.configure(readVariables(pixgate.variables, environment, { isProduction: false }))
}

const examined = async (url: string) => lines(await examineBank(configured(url), { now: wallNow }))

/** What is wrong with a database, by `check`. */
async function wrong(
  url: string,
  encryptionKeys?: EncryptionKeys,
  migratedBy: MigratedBy = 'start',
): Promise<string[]> {
  const { findings } = await examineDatabase({ url, clock: createDatabaseClock(), encryptionKeys, migratedBy })
  return findings.filter(({ isOk }) => !isOk).map(({ check, says }) => `${check}: ${says}`)
}

/** Runs the program of the server alone. */
function doctor(environment: Record<string, string>): Promise<{ status: number; output: string }> {
  const options = { env: { ...PROGRAM_ENVIRONMENT, ...environment }, cwd: tmpdir(), encoding: 'utf8' } as const
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [PROGRAM], options, (_, stdout, stderr) =>
      resolve({ status: child.exitCode ?? -1, output: stdout + stderr }),
    )
  })
}

test('[doctor.1] where all is well there is a ✔ for everything and the status is 0', NOT_SHIFTED, async (t) => {
  const { url: databaseUrl, database } = await testDatabase(t)
  const receiver = await listening(t, net.createServer())
  await database.rows(
    {
      name: 'test.register',
      text: 'INSERT INTO endpoint (id, url, events, created_at, since) VALUES ($1, $2, $3, now(), now())',
    },
    ['0198c0de-0000-7000-8000-000000000001', `http://127.0.0.1:${receiver}/canary`, ['pix_cash_in']],
  )
  const bank = await bankThat(t)
  const { status, output } = await doctor({
    ...ENVIRONMENT,
    DATABASE_URL: databaseUrl,
    PIXGATE_PARTNER_URL: bank.url,
  })
  const [configuration, answers, ...others] = output.trimEnd().split('\n')
  assert.equal(configuration, '✔ configuration     is complete, in sandbox mode')
  assert.match(answers ?? '', /^✔ database {10}PostgreSQL \d+\.\d+\b/)
  assert.deepEqual(others, [
    '✔ schema            is up to date',
    "✔ clock             this machine's agrees with the database's",
    '✔ bank              answers, and takes our credentials',
    "✔ clock             the bank's agrees with ours",
    `✔ webhook endpoint  http://127.0.0.1:${receiver} takes connections`,
  ])
  assert.equal(status, 0)
  assert.deepEqual(bank.asked, [`GET /statement Bearer ${ENVIRONMENT.PIXGATE_PARTNER_TOKEN}`])
})

test('[doctor.1] where anything is wrong there is a ✘, the status is 1, and no secret is shown', async (t) => {
  const bank = await bankThat(t, (response) => response.writeHead(401))
  const databaseUrl = 'postgres://pixgate:canary@127.0.0.1:9/pixgate'
  const { status, output } = await doctor({
    ...ENVIRONMENT,
    DATABASE_URL: databaseUrl,
    PIXGATE_PARTNER_URL: bank.url,
  })
  assert.equal(
    output,
    [
      '✔ configuration  is complete, in sandbox mode',
      '✘ database       DATABASE_URL: the database at 127.0.0.1:9 refuses connections',
      '✘ bank           the bank answers 401: check PIXGATE_PARTNER_TOKEN',
      "✔ clock          the bank's agrees with ours",
      '',
    ].join('\n'),
  )
  assert.equal(status, 1)
  const wrong = await doctor({
    ...ENVIRONMENT,
    PORT: 'canary',
    PIXGATE_PAYMENT_MAX_CENT: '1',
    DATABASE_URL: databaseUrl,
  })
  assert.deepEqual(wrong, {
    status: 1,
    output: [
      '✘ configuration  PORT must be a whole number from 0 to 65535',
      '✘ configuration  PIXGATE_PARTNER_URL is required; the sandbox, which npm start runs in a checkout, brings its own',
      '✘ configuration  PIXGATE_PAYMENT_MAX_CENT is unknown; did you mean PIXGATE_PAYMENT_MAX_CENTS?',
      '',
    ].join('\n'),
  })
})

test('[doctor.2] the database is examined as a start would, and a schema that the start makes is no fault', async (t) => {
  const { url } = await testDatabase(t)
  const examine = async (of: string) => {
    const clock = createDatabaseClock()
    const examined = { url: of, clock, encryptionKeys: undefined, migratedBy: 'start' } as const
    return lines((await examineDatabase(examined)).findings)
  }
  await administer(url, `ALTER DATABASE ${new URL(url).pathname.slice(1)} SET synchronous_commit = off`)
  assert.match((await examine(url))[0] ?? '', /^✘ database .*synchronous_commit = off/)
  await administer(url, `INSERT INTO schema_migration (version, name, hash) VALUES (9999, '9999-future.sql', 'x')`)
  assert.match((await examine(url)).join(), /^✘ database .*9999-future\.sql/)

  const empty = await emptyDatabase(t)
  const [answers, migrations, ...others] = await examine(empty)
  assert.match(answers ?? '', /^✔/)
  assert.match(migrations ?? '', /^✔ schema /)
  assert.equal(others.length, 1)
  await administer(empty, 'CREATE TABLE nothing_was_changed ()')
})

test('[doctor.3] the bank is named with what is wrong and what to look at', async (t) => {
  const refusing = net.createServer()
  const port = await listening(t, refusing)
  refusing.close()
  assert.deepEqual(await examined(`http://127.0.0.1:${port}`), [
    '✘ bank  the bank refuses connections: check PIXGATE_PARTNER_URL',
  ])
  assert.deepEqual(await examined('https://bank.invalid'), [
    '✘ bank  the bank at bank.invalid cannot be found: its name does not resolve: check PIXGATE_PARTNER_URL',
  ])
  const plain = await bankThat(t)
  assert.deepEqual(await examined(plain.url.replace('http:', 'https:')), [
    '✘ bank  the bank does not speak TLS: check PIXGATE_PARTNER_URL',
  ])
  const page = await bankThat(t, (response) => response.writeHead(200).write('<html>'))
  assert.equal((await examined(page.url))[0], '✘ bank   the bank answers what cannot be read')
})

/** What the doctor says of a bank whose certificates end in so many days. */
async function certificateLines(days: Readonly<Partial<Record<CertificateOwner, number>>>): Promise<string[]> {
  const now = 1_700_000_000_000
  const certificates = Object.entries(days).map(([of, left]) => ({
    of: of as CertificateOwner,
    endsAt: now + left * 86_400_000,
  }))
  const open = () => ({ ...configured('http://127.0.0.1:9').open(), certificates: () => certificates })
  const findings = await examineBank({ ...configured('http://127.0.0.1:9'), open }, { now: () => now })
  return lines(findings.filter(({ check }) => check === 'certificate'))
}

test('[doctor.7] until when certificates are good is told; what somebody has to do from 30 days on, and as a fault from 7', async () => {
  const endsIn30 = 'ours is good until 2023-12-14, for 30 days: our certificate for the bank expires soon'
  const endsIn6 = "the bank's is good until 2023-11-20, for 6 days: the bank’s certificate expires soon"
  const ended =
    "the last authority's is good until 2023-11-12, for -2 days: the certificate of the last authority that is"
  assert.deepEqual(await certificateLines({ bank: 31 }), ["✔ certificate  the bank's is good until 2023-12-15"])
  assert.deepEqual(await certificateLines({ client: 30, bank: 6, authority: -2 }), [
    `✔ certificate  ${endsIn30}: put a new one in its place, with its key, and restart`,
    `✘ certificate  ${endsIn6}: the bank has to renew it`,
    `✘ certificate  ${ended} trusted for the bank has expired: add the one that the bank will use next, and restart`,
  ])
})

test('[doctor.7] [partner.12] the certificates are those of the connection and of the files', async (t) => {
  const authority = authorityOf(t, 'authority.example')
  const [server, client] = [authority.issue('localhost'), authority.issue('gateway.example')]
  const wanting = { requestCert: true, rejectUnauthorized: true, ca: authority.cert }
  const bank = createTlsServer({ ...server, ...wanting }, (_, response) => response.end(JSON.stringify(STATEMENT)))
  const environment = {
    ...ENVIRONMENT,
    PIXGATE_PARTNER_URL: `https://localhost:${await listening(t, bank)}`,
    PIXGATE_PARTNER_CLIENT_CERTIFICATE_FILE: client.path,
    PIXGATE_PARTNER_CLIENT_KEY_FILE: client.keyPath,
    PIXGATE_PARTNER_CA_BUNDLE_FILE: authority.path,
  }
  const values = readVariables(pixgate.variables, environment, { isProduction: false })
  const told = lines(await examineBank(pixgate.configure(values), { now: wallNow }))
  assert.match(told[0] ?? '', /^✔ bank /)
  const owners = ["the bank's", 'ours', "the last authority's"]
  assert.deepEqual(
    told.slice(1, 4).map((line) => /^✘ certificate +(.*?) is good until /.exec(line)?.[1]),
    owners,
  )
})

const startOn = (url: string) => migrateDatabase({ url, variable: 'DATABASE_URL' }, pino({ level: 'silent' }))

test(
  '[doctor.2] a login that may not do what the start does is a ✘, and the start is refused',
  NOT_SHIFTED,
  async (t) => {
    const { url } = await testDatabase(t)
    const empty = await emptyDatabase(t)
    const reader = await login(t, 'IN ROLE pg_read_all_data')
    const may = `DATABASE_URL: the user "${reader.role}" may not`
    assert.deepEqual(await wrong(as(url, reader)), [
      `database: ${may} create tables in the schema public: it must own the database`,
      `database: ${may} write to the tables that are there: they must belong to it`,
      `database: ${may} work as pixgate_app: GRANT pixgate_app TO "${reader.role}"`,
    ])
    await assert.rejects(startOn(as(url, reader)), /permission denied for schema public/)

    const owner = await login(t)
    await administer(empty, `ALTER DATABASE ${new URL(empty).pathname.slice(1)} OWNER TO ${owner.role}`)
    const owned = as(empty, owner)
    assert.deepEqual(await wrong(owned), [
      `database: DATABASE_URL: the user "${owner.role}" may not work as pixgate_app: GRANT pixgate_app TO "${owner.role}"`,
    ])
    await assert.rejects(startOn(owned), /permission denied/)
    await administer(url, `GRANT pixgate_app TO ${owner.role}`)
    assert.deepEqual(await wrong(owned), [])
    await startOn(owned)
    assert.deepEqual(await wrong(owned), [])
  },
)

test('[doctor.2] [database.10] [database.11] in production a login that can do too much is a ✘, and so is a schema that is not up to date', async (t) => {
  const { url } = await testDatabase(t)
  const server = as(url, await serverLogin(t))
  assert.deepEqual(await wrong(server, undefined, 'migrate'), [])
  const [superuser = '', advice = '', ...others] = await wrong(url, undefined, 'migrate')
  assert.match(superuser, /^database: DATABASE_URL: .*superuser/)
  assert.match(advice, /^database: DATABASE_URL .*IN ROLE pixgate_app$/)
  assert.deepEqual(others, [])
  await administer(url, "DELETE FROM allowed_move WHERE to_status = 'PAID'")
  assert.deepEqual(await wrong(server, undefined, 'migrate'), [
    'schema: the schema is not up to date (moves): run `npm run migrate` with PIXGATE_MIGRATION_URL, then start again',
  ])
  assert.deepEqual(await wrong(server, undefined, 'start as another user'), [], 'the start of a sandbox applies them')
})

const MAY_ALL: Permissions = {
  user: 'pix',
  mayCreateTables: true,
  mayWriteTables: true,
  ownsTables: true,
  mayCreateRoles: true,
  isRoleThere: true,
  maySetRole: true,
  mayGrantRole: true,
}

test('[doctor.2] whether the role that the service works as can be made, granted and used', () => {
  const faults = (may: Partial<Permissions>, pending: readonly string[] = ['schema']) =>
    permissionFaults({ ...MAY_ALL, ...may }, pending)
  const none = { isRoleThere: false, maySetRole: false, mayGrantRole: false }
  const create =
    'DATABASE_URL: the user "pix" may not create the role pixgate_app, as which the service works: ALTER ROLE "pix" CREATEROLE'
  const missing = 'the role pixgate_app is missing: CREATE ROLE pixgate_app NOLOGIN; GRANT pixgate_app TO "pix"'
  const set = 'DATABASE_URL: the user "pix" may not work as pixgate_app: GRANT pixgate_app TO "pix"'
  assert.deepEqual(faults({}), [])
  assert.deepEqual(faults(none), [])
  assert.deepEqual(faults({ ...none, mayCreateRoles: false }), [create])
  assert.deepEqual(faults(none, []), [missing])
  assert.deepEqual(faults({ maySetRole: false }), [])
  assert.deepEqual(faults({ maySetRole: false }, []), [set])
  assert.deepEqual(faults({ maySetRole: false, mayGrantRole: false }), [set])
  const owns = 'DATABASE_URL: the user "pix" may not change the tables that are there: they must belong to it'
  assert.deepEqual(faults({ ownsTables: false }, []), [])
  assert.deepEqual(faults({ ownsTables: false }, ['0001-made-up.sql']), [owns])
})

test('[doctor.2] a database that can only be read is a ✘', async (t) => {
  const { url } = await testDatabase(t)
  await administer(url, `ALTER DATABASE ${new URL(url).pathname.slice(1)} SET default_transaction_read_only = on`)
  const why = 'the database can only be read: it is a standby, or default_transaction_read_only is on'
  assert.deepEqual(await wrong(url), [`database: ${why}`])
  await assert.rejects(startOn(url), /read-only/)
})

test('[doctor.2] an encryption key that does not open what was sealed is a ✘', async (t) => {
  const { url, database } = await testDatabase(t)
  const key = (text: string) => ({ current: `${text}, of 32 characters or more than that`, previous: undefined })
  assert.deepEqual(await wrong(url, key('any')), [], 'nothing is sealed yet')
  const { keyId } = await signerOf(database, key('right'))
  assert.deepEqual(await wrong(url, key('right')), [])
  assert.deepEqual(await wrong(url), [], 'no key is known')
  assert.deepEqual(await wrong(url, key('wrong')), [
    `encryption key: the webhook signing key ${keyId} cannot be opened: PIXGATE_ENCRYPTION_KEY is not the one it was stored with, nor is PIXGATE_ENCRYPTION_KEY_PREVIOUS: put that one back`,
  ])
})

test('[encryption.4] the doctor says whether the previous encryption key is needed', async (t) => {
  const { url, database } = await testDatabase(t)
  const [old, present] = ['the encryption key of last year, 32 or more', 'the encryption key of this year, 32 or more']
  await signerOf(database, { current: old, previous: undefined })
  const keyLines = async (previous?: string, current = present) => {
    const { findings } = await examineDatabase({
      url,
      clock: createDatabaseClock(),
      encryptionKeys: { current, previous },
      migratedBy: 'start',
    })
    return lines(findings.filter(({ check }) => check === 'encryption key'))
  }
  assert.deepEqual(await keyLines(old), [
    '✔ encryption key  PIXGATE_ENCRYPTION_KEY_PREVIOUS is needed by 1 of 1 sealed secrets: run `npm run rewrap-keys`',
  ])
  assert.deepEqual(await keyLines('another one, of 32 characters or more', old), [
    '✔ encryption key  PIXGATE_ENCRYPTION_KEY_PREVIOUS is no longer needed; remove it',
  ])
  assert.deepEqual(await keyLines(undefined, old), [''])
})

test('[doctor.1] what nobody foresaw is a ✘ of its check, and the others are made', NOT_SHIFTED, async (t) => {
  const { url } = await testDatabase(t)
  await administer(url, 'ALTER TABLE endpoint RENAME TO mislaid')
  const bank = await bankThat(t)
  const { status, output } = await doctor({ ...ENVIRONMENT, DATABASE_URL: url, PIXGATE_PARTNER_URL: bank.url })
  assert.match(output, /^✔ configuration .*\n✘ database +cannot be examined: .*endpoint.*\n✔ bank .*\n✔ clock .*\n$/)
  assert.equal(status, 1)
})

test('[doctor.1] a database that cuts the connection is a ✘', async (t) => {
  const { url } = await testDatabase(t)
  const cut = await reachJudged(t, (direction, bytes) =>
    direction === 'request' && bytes.includes('SELECT name, setting') ? 'cut' : 'pass',
  )(url)
  const { status, output } = await doctor({
    ...ENVIRONMENT,
    DATABASE_URL: cut,
    PIXGATE_PARTNER_URL: 'http://127.0.0.1:9',
  })
  assert.match(output, /\n✘ database +DATABASE_URL: .*127\.0\.0\.1:\d+.*\n✘ bank /)
  assert.equal(status, 1)
})

test('[doctor.3] [doctor.5] a certificate that has expired is named as that', async (t) => {
  const certificate = endedCertificate(t)
  const port = await listening(t, createTlsServer(certificate))
  const url = `https://localhost:${port}`
  const expired = 'has a certificate that has expired: '
  assert.deepEqual(await examined(url), [
    `✘ bank  the bank ${expired}the bank has to renew it, or check PIXGATE_PARTNER_URL`,
  ])
  const [finding] = await examineEndpoints(
    [{ id: 'id', url, reach: 'public' }],
    boundsOf({ allowPrivate: true, allowedNetworks: [] }),
  )
  assert.equal(finding?.says, `${url} ${expired}repair it, or remove it with DELETE /webhook/id`)
})

const WANTS_CERTIFICATE = { requestCert: true, rejectUnauthorized: true }

for (const [title, options, says] of [
  [
    'wants a certificate of ours, in TLS 1.3',
    { ...WANTS_CERTIFICATE, minVersion: 'TLSv1.3' },
    'wants a certificate of ours, and we have none: check PIXGATE_PARTNER_CLIENT_CERTIFICATE_FILE',
  ],
  [
    'wants a certificate of ours, in TLS 1.2',
    { ...WANTS_CERTIFICATE, maxVersion: 'TLSv1.2' },
    'refuses our TLS handshake: it may want a certificate of ours, and we have none: check PIXGATE_PARTNER_CLIENT_CERTIFICATE_FILE',
  ],
  [
    'speaks TLS 1.1',
    { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' },
    'speaks no version of TLS that we do: TLS 1.2 or newer is needed: check PIXGATE_PARTNER_URL',
  ],
] as const) {
  test(`[doctor.3] a bank that ${title} is named as that`, async (t) => {
    const certificate = certificateOf(t, 'localhost')
    const { path, ...pem } = certificate
    const port = await listening(
      t,
      createTlsServer({ ...pem, ...options }, (_, response) => response.end('{}')),
    )
    const { output } = await doctor({
      ...ENVIRONMENT,
      NODE_EXTRA_CA_CERTS: path,
      DATABASE_URL: 'postgres://pixgate@127.0.0.1:9/pixgate',
      PIXGATE_PARTNER_URL: `https://localhost:${port}`,
    })
    assert.equal(output.split('\n')[1], '✔ TLS            trusts the authorities in NODE_EXTRA_CA_CERTS, too')
    assert.equal(output.split('\n')[3], `✘ bank           the bank ${says}`)
  })
}

test('[doctor.6] authorities that are named and cannot be read are a ✘', async () => {
  const environment = { ...ENVIRONMENT, DATABASE_URL: 'postgres://pixgate@127.0.0.1:9/pixgate' }
  const given = { ...environment, PIXGATE_PARTNER_URL: 'https://127.0.0.1:9', NODE_EXTRA_CA_CERTS: '/nowhere.pem' }
  const { output } = await doctor(given)
  const line = output.split('\n').find((one) => one.includes(' TLS '))
  const reason = 'no such file or directory; Node.js goes on without them'
  assert.equal(line, `✘ TLS            NODE_EXTRA_CA_CERTS names /nowhere.pem, which cannot be read: ${reason}`)
})

test('[doctor.3] a bank that answers too much is named as that', async (t) => {
  const { url } = await bankThat(t, (response) => response.write(' '.repeat(70_000)))
  assert.equal((await examined(url))[0], '✘ bank   the bank answers more than 64 KiB: check PIXGATE_PARTNER_URL')
})

test('[doctor.4] a bank whose clock is more than five seconds off ours is a ✘; one without a Date is not judged', async (t) => {
  const clockOf = async (offMs: number) => {
    const date = new Date(wallNow() + offMs).toUTCString()
    const { url } = await bankThat(t, (response) => response.setHeader('date', date))
    return (await examined(url))[1]
  }
  assert.equal(await clockOf(2_000), "✔ clock  the bank's agrees with ours")
  assert.match((await clockOf(-600_000)) ?? '', /^✘ clock .* 60[01] s behind /)
  assert.match((await clockOf(600_000)) ?? '', /^✘ clock .* (599|600) s ahead /)
  const { url } = await bankThat(t, (response) => {
    response.sendDate = false
  })
  assert.deepEqual(await examined(url), ['✔ bank  answers, and takes our credentials'])
})

test('[doctor.4] a machine whose clock is off the database’s is a ✘', async (t) => {
  const { url } = await testDatabase(t)
  const { findings } = await examineDatabase({
    url,
    clock: createDatabaseClock(() => wallNow() + 600_000),
    encryptionKeys: undefined,
    migratedBy: 'start',
  })
  const clock = findings.find(({ check }) => check === 'clock')
  assert.match(`${clock?.isOk} ${clock?.says}`, /^false .* \d+ ms (ahead of|behind) /)
})

test('[doctor.5] [webhooks.26] each webhook endpoint is connected to, sent nothing, and named with what is wrong, without its path', async (t) => {
  const server = net.createServer()
  const heard = once(server, 'connection').then(([socket]) => socket.toArray())
  const port = await listening(t, server)
  const gone = net.createServer()
  const gonePort = await listening(t, gone)
  gone.close()
  const id = '0198c0de-0000-7000-8000-000000000001'
  const examine = async (
    url: string,
    allowPrivate: boolean,
    addresses: readonly string[] = [],
    reach: Reach = 'public',
  ) =>
    lines(
      await examineEndpoints(
        [{ id, url, reach }],
        boundsOf({
          allowPrivate,
          allowedNetworks: [{ network: '127.0.0.1', port: gonePort }],
          resolve: async () => addresses,
        }),
      ),
    )
      .join()
      .replace('webhook endpoint  ', '')
  const advice = `: repair it, or remove it with DELETE /webhook/${id}`

  assert.equal(await examine(`http://127.0.0.1:${port}/canary`, true), `✔ http://127.0.0.1:${port} takes connections`)
  assert.deepEqual(await heard, [])
  assert.equal(
    await examine(`http://127.0.0.1:${gonePort}/canary`, true),
    `✘ http://127.0.0.1:${gonePort} refuses connections${advice}`,
  )
  assert.equal(
    await examine('http://shop.example/canary', false),
    `✘ http://shop.example is not an address that production delivers to${advice}`,
  )
  assert.equal(
    await examine('https://shop.example/canary', false, ['10.0.0.1']),
    `✘ https://shop.example is not delivered to, as 10.0.0.1 is not a public address${advice}`,
  )
  assert.equal(
    await examine('https://shop.example/canary', false),
    `✘ https://shop.example cannot be found: its name does not resolve${advice}`,
  )
  assert.equal(
    await examine(`https://localhost:${gonePort}/canary`, true),
    `✘ https://localhost:${gonePort} refuses connections${advice}`,
  )
  const erp = (port: number, reach: Reach) =>
    examine(`https://erp.internal:${port}/canary`, false, ['127.0.0.1'], reach)
  assert.match(await erp(gonePort, 'inside'), /refuses connections/)
  assert.match(await erp(port, 'inside'), /not in PIXGATE_WEBHOOK_ALLOWED_NETWORKS/)
  assert.match(await erp(gonePort, 'public'), /is not an address that production delivers to/)
})
