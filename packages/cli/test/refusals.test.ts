import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { fileURLToPath } from 'node:url'
import type { Command } from '../src/command.ts'
import { commands } from '../src/index.ts'
import { Input } from '../src/input.ts'
import { folderOf, json, shell } from './support/running.ts'
import { problem, scriptedServer } from './support/scripted-server.ts'

const ID = '0190c9a2-7f5e-7c3a-9d27-1f3b5a7c9e11'
const KEY = 'pix_test_canary-of-the-key'
const LIVE_KEY = 'pix_live_canary-of-the-key'
const TOKEN = 'canary-of-the-token-0123456789abcdef'

const CREATE = 'pixgate charge create --value 150.00 --external-id order-1'

for (const [answer, code, [status, error]] of [
  ['a refusal', 1, [422, 'value_too_large']],
  ['a request that is not valid', 2, [400, 'validation_error']],
  ['an unknown id', 3, [404, 'not_found']],
  ['a wrong key', 4, [401, 'unauthorized']],
  ['a missing scope', 4, [403, 'insufficient_scope']],
] as const) {
  test(`[cli.2] ${answer} is exit code ${code}`, async (t) => {
    const server = await scriptedServer(t, (_, response) => problem(response, status, error))
    const pixgate = shell(folderOf(t), { PIXGATE_URL: server.url, PIXGATE_API_KEY: KEY })
    const ran = await pixgate(`pixgate charge get ${ID} --json`)
    assert.deepEqual([ran.code, ran.stdout, json(ran.stderr).error.code], [code, '', error])
    assert.ok(json(ran.stderr).error.fix)
  })
}

test('[cli.2] a Pixgate that is not there is exit code 5', async (t) => {
  const pixgate = shell(folderOf(t), { PIXGATE_URL: 'http://127.0.0.1:1', PIXGATE_API_KEY: KEY })
  const { code, stderr } = await pixgate('pixgate balance --json')
  assert.deepEqual([code, json(stderr).error.code], [5, 'connection_failed'])
})

test('[cli.2] a lost answer is exit code 6, with the command that finds out', async (t) => {
  const server = await scriptedServer(t, (_, response) => void response.destroy())
  const pixgate = shell(folderOf(t), { PIXGATE_URL: server.url, PIXGATE_API_KEY: KEY })
  const [words, lost] = [`${CREATE} --json`, await pixgate(`${CREATE} --json`)]
  const { exitCode, command } = json(lost.stderr).error
  assert.deepEqual([words, lost.code, exitCode], [`${CREATE} --json`, 6, 6])
  assert.equal(command, 'pixgate charge list --external-id order-1')
  const story = json((await pixgate('pixgate trigger cash-in.paid --json')).stderr).error
  assert.match(story.command, /^pixgate find story-/)
})

test('[cli.2] a payout that has not ended is exit code 6, and one that failed is 1', async (t) => {
  for (const [status, expected] of [
    ['PROVIDER_RESULT_UNKNOWN', 6],
    ['FAILED', 1],
  ] as const) {
    const server = await scriptedServer(t, (_, response) => {
      response.end(JSON.stringify({ id: ID, externalId: 'p', status }))
    })
    // The wait for the end is the SDK's, and ends with its time.
    t.mock.timers.enable({ apis: ['Date'], now: 0 })
    const clock = setInterval(() => t.mock.timers.tick(30_000), 50)
    const pixgate = shell(folderOf(t), { PIXGATE_URL: server.url, PIXGATE_API_KEY: KEY })
    const create = 'pixgate payout create --value 1.00 --external-id p --key a@b.example --key-type email --wait'
    const { code, stderr } = await pixgate(`${create} --json`)
    clearInterval(clock)
    t.mock.timers.reset()
    assert.equal(code, expected, stderr)
    if (expected === 6) assert.equal(json(stderr).error.command, `pixgate payout get ${ID}`)
  }
})

for (const line of [
  'pixgate nothing',
  'pixgate charge',
  'pixgate charge get',
  `pixgate charge get ${ID} more`,
  'pixgate charge create --value 150.00',
  `${CREATE} --valu 1`,
  'pixgate charge list --limit none',
  'pixgate payout create --external-id p --value 1.00',
  'pixgate events tail --type nothing',
  'pixgate webhooks recover x --since yesterday',
  'pixgate trigger nothing',
  'pixgate balance --profile nothing',
  'pixgate balance --secret-file nothing',
  'pixgate completion nothing',
]) {
  test(`[cli.2] ${line}: used wrongly`, async (t) => {
    const pixgate = shell(folderOf(t), { PIXGATE_URL: 'http://127.0.0.1:1', PIXGATE_API_KEY: KEY })
    const { code, stdout, stderr } = await pixgate(line)
    assert.deepEqual([code, stdout], [2, ''], stderr)
  })
}

test('[cli.2] a required value that is absent or empty is used wrongly, also where the table does not require it', async (t) => {
  const server = await scriptedServer(t, (_, response) => problem(response, 500, 'internal_error'))
  const pixgate = shell(folderOf(t), { PIXGATE_URL: server.url, PIXGATE_API_KEY: KEY })
  for (const words of [
    ['charge', 'create', '--value=1.00', '--external-id='],
    ['charge', 'get', ''],
  ])
    assert.equal((await pixgate(words)).code, 2, words.join(' '))
  const input = new Input({ empty: '' }, [''])
  for (const read of [
    () => input.needed('external-id'),
    () => input.needed('empty'),
    () => input.word(0),
    () => input.word(1),
  ])
    assert.throws(read, { exit: 'usageError' })
  assert.equal(input.optionalWord(0), undefined)
})

test('[cli.2] an option without its value has advice that an option with a needless value has not', async (t) => {
  const pixgate = shell(folderOf(t), { PIXGATE_URL: 'http://127.0.0.1:1', PIXGATE_API_KEY: KEY })
  const lines = [
    'charge list --json --limit',
    'charge list --limit --json',
    'charge list --json --live=1',
    'balance --json --help=1',
  ]
  const errors = await Promise.all(lines.map(async (words) => json((await pixgate(`pixgate ${words}`)).stderr).error))
  assert.deepEqual(
    errors.map(({ code, fix }) => [code, fix !== undefined]),
    [
      ['used_wrongly', true],
      ['used_wrongly', true],
      ['used_wrongly', false],
      ['used_wrongly', false],
    ],
  )
})

test('[cli.3] an amount has both decimals, so that reais are never taken for centavos', async (t) => {
  const bodies: string[] = []
  const server = await scriptedServer(t, (request, response) => {
    bodies.push(`${request.method}`)
    response.end(JSON.stringify({ id: ID, externalId: 'order-1', status: 'PENDING' }))
  })
  const pixgate = shell(folderOf(t), { PIXGATE_URL: server.url, PIXGATE_API_KEY: KEY })
  for (const value of ['150', '150.0', '1,150.00', '-1.00', '1e2', '150.001'])
    assert.equal((await pixgate(['charge', 'create', `--value=${value}`, '--external-id', 'order-1'])).code, 2, value)
  assert.deepEqual(bodies, [])
  for (const value of ['150.00', '150,00'])
    assert.equal((await pixgate(['charge', 'create', '--value', value, '--external-id', 'order-1'])).code, 0)
})

test('[cli.4] texts of strangers cannot control a terminal', async (t) => {
  const name = 'Ana\u001b[2J\u202e\nLima'
  const server = await scriptedServer(t, (_, response) => {
    response.end(JSON.stringify({ id: ID, status: 'PAID', valueCents: 1_50, payerName: name }))
  })
  const pixgate = shell(folderOf(t), { PIXGATE_URL: server.url, PIXGATE_API_KEY: KEY })
  const { stdout } = await pixgate(`pixgate charge get ${ID}`, { isTerminal: true })
  assert.ok(stdout.includes('Ana\\u001b[2J\\u202e\\u000aLima'), stdout)
  assert.ok(stdout.includes('\u001b[2m'), 'colour on a terminal')
  const plain = shell(folderOf(t), { PIXGATE_URL: server.url, PIXGATE_API_KEY: KEY, NO_COLOR: '1' })
  assert.ok(!(await plain(`pixgate charge get ${ID}`, { isTerminal: true })).stdout.includes('\u001b'))
  assert.equal(json((await plain(`pixgate charge get ${ID} --json`)).stdout).payerName, name)
})

test('[cli.5] no option takes a secret, and none is repeated', async (t) => {
  const server = await scriptedServer(t, ({ headers }, response) =>
    problem(response, 401, 'unauthorized', { detail: JSON.stringify(headers) }),
  )
  const pixgate = shell(folderOf(t), { PIXGATE_URL: server.url, PIXGATE_API_KEY: KEY, PIXGATE_ADMIN_TOKEN: TOKEN })
  const named = commands.flatMap(({ options = {} }) => Object.keys(options))
  assert.deepEqual(
    named.filter((option) => /secret|token|api-key|password/.test(option)),
    [],
  )
  for (const line of [
    'balance',
    `balance --api-key=${KEY}`,
    `balance ${TOKEN}`,
    `${TOKEN}`,
    `charge get ${KEY} extra`,
    ...commands.filter(({ name }) => !['dev', 'server', 'login'].includes(name)).map((one) => lineOf(one).slice(8)),
  ]) {
    for (const more of ['', ' --json']) {
      const { stdout, stderr } = await pixgate(`pixgate ${line}${more}`)
      for (const secret of [KEY, TOKEN]) assert.ok(!`${stdout}${stderr}`.includes(secret), line)
    }
  }
})

test('[cli.5] a profile is a file of mode 0600; the settings are those of one source', async (t) => {
  const server = await scriptedServer(t, (request, response) => {
    response.end(JSON.stringify([{ amount: request.headers.authorization === `Bearer ${KEY}` ? 1 : 0 }]))
  })
  const folder = folderOf(t)
  writeFileSync(join(folder, 'key'), `${KEY}\n`)
  const pixgate = shell(folder, {})
  const logged = await pixgate(`pixgate login --url ${server.url} --profile shop < ${join(folder, 'key')}`)
  assert.equal(logged.code, 0, logged.stderr)
  assert.ok(!logged.stdout.includes(KEY))
  const path = join(folder, 'config/pixgate/profiles.json')
  assert.equal(statSync(path).mode & 0o777, 0o600)
  const other = shell(folder, { PIXGATE_URL: 'http://127.0.0.1:1', PIXGATE_API_KEY: 'pix_test_other' })
  assert.equal(json((await other('pixgate balance --profile shop --json')).stdout).amount, 1)
  // The address of the environment does not get the key of a profile.
  assert.equal((await shell(folder, { PIXGATE_URL: server.url })('pixgate balance')).code, 2)
  chmodSync(path, 0o644)
  assert.equal((await pixgate('pixgate balance --profile shop')).code, 2)
})

const realMoney = commands.filter(({ moves }) => moves)

const lineOf = ({ name, examples }: Command) =>
  (examples[0] ?? `pixgate ${name} ${ID} ${ID} --reason r`).replaceAll(/\$[A-Z]+/g, ID).replace(' --dry-run', '')

test('[cli.6] with real money nothing moves without --live', async (t) => {
  const server = await scriptedServer(t, (request, response) => {
    if (request.url === '/operator/system') response.end(JSON.stringify({ mode: 'production' }))
    else problem(response, 422, 'value_too_large')
  })
  const env = { PIXGATE_URL: server.url, PIXGATE_API_KEY: LIVE_KEY, PIXGATE_ADMIN_TOKEN: TOKEN }
  const pixgate = shell(folderOf(t), env)
  assert.ok(realMoney.length >= 6)
  for (const command of realMoney) {
    const { code, stderr } = await pixgate(`${lineOf(command)} --json`)
    assert.deepEqual([code, json(stderr).error.code], [4, 'live_not_allowed'], command.name)
  }
  assert.deepEqual([...new Set(server.requests)], ['GET /operator/system'])
  assert.equal((await pixgate('pixgate trigger cash-in.paid --live')).code, 4)
  assert.deepEqual([...new Set(server.requests)], ['GET /operator/system'])
  assert.equal((await pixgate(`${CREATE} --live`)).code, 1)
  assert.equal(server.requests.at(-1), 'POST /api/pix/cash-in')
})

test('[cli.6] stopping payouts needs no --live, whatever the mode', async (t) => {
  const server = await scriptedServer(t, (_, response) => response.end(JSON.stringify({ enabled: false })))
  const pixgate = shell(folderOf(t), { PIXGATE_URL: server.url, PIXGATE_ADMIN_TOKEN: TOKEN })
  assert.equal((await pixgate('pixgate switch off "Incident 42"')).code, 0)
  assert.equal(server.requests.length, 1)
})

test('[cli.10] init writes URL-safe secrets, all different, for its owner alone, and never over a file', async (t) => {
  const folder = folderOf(t)
  const pixgate = shell(folder, {})
  const { code, stdout } = await pixgate('pixgate init --json')
  assert.equal(code, 0)
  const path = join(folder, 'pixgate.env')
  const text = readFileSync(path, 'utf8')
  assert.equal(statSync(path).mode & 0o777, 0o600)
  const secrets = [...text.matchAll(/(?:TOKEN='|KEY='|server:)([^'@]*)/g)].map(([, secret = '']) => secret)
  const made = secrets.filter((secret) => secret !== '')
  assert.equal(new Set(made).size, 3)
  for (const secret of made) assert.match(secret, /^[\w-]{43}$/)
  assert.ok(json(stdout).missing.includes('DATABASE_URL'))
  assert.equal((await pixgate('pixgate init')).code, 2)
  assert.equal(readFileSync(path, 'utf8'), text)
})

test('[cli.1] every command has its help and its completion', async (t) => {
  const pixgate = shell(folderOf(t), {})
  const overview = await pixgate(['--help'])
  const { stdout: script } = await pixgate(['completion', 'bash'])
  for (const { name, says, options = {}, isPassedOn } of commands) {
    assert.ok(overview.stdout.includes(name) && overview.stdout.includes(says), name)
    if (isPassedOn) continue
    const { code, stdout } = await pixgate([...name.split(' '), '--help'])
    assert.equal(code, 0)
    for (const option of Object.keys(options))
      assert.ok(stdout.includes(`--${option}`) && script.includes(`--${option}`))
  }
  const completed = (...words: readonly string[]) =>
    execFileSync(
      'bash',
      [
        '-c',
        `${script}\nCOMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}; _pixgate; echo "\${COMPREPLY[@]}"`,
      ],
      { encoding: 'utf8' },
    ).trim()
  assert.equal(completed('pixgate', 'cha'), 'charge')
  assert.equal(completed('pixgate', 'charge', ''), 'create get list')
  assert.equal(completed('pixgate', 'charge', 'get', 'x', '--js'), '--json')
})

test('[cli.1] --version is that of the package', async (t) => {
  const manifest = JSON.parse(readFileSync(fileURLToPath(new URL('../package.json', import.meta.url)), 'utf8'))
  assert.equal((await shell(folderOf(t), {})(['--version'])).stdout, `${manifest.version}\n`)
})
