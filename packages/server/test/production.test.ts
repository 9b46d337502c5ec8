import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { fileURLToPath } from 'node:url'
import { readConfig } from '../src/config.ts'
import { runtimeFaults } from '../src/platform/runtime.ts'
import type { Environment } from '../src/platform/variables.ts'
import { CANARY, configFaults, faultyVariables, PRODUCTION } from './support/environment.ts'
import { PROGRAM_ENVIRONMENT } from './support/program-environment.ts'

const faultsOf = (environment: Environment) => configFaults(readConfig, { ...PRODUCTION, ...environment })
const faulty = (environment: Environment) => faultyVariables(readConfig, { ...PRODUCTION, ...environment })
const sandboxFaults = (environment: Environment) =>
  configFaults(readConfig, { ...PRODUCTION, PIXGATE_MODE: 'sandbox', ...environment })

const GUESSABLE = 'is too easy to guess, as it repeats, counts or names itself: make one with openssl rand -hex 32'

test('[production.1] production has a limit of requests and a log; the sandbox may have neither', () => {
  assert.deepEqual(faultsOf({ PIXGATE_RATE_LIMIT_PER_MINUTE: '0', PIXGATE_LOG_LEVEL: 'silent' }), [
    'PIXGATE_RATE_LIMIT_PER_MINUTE must be a whole number of requests from 1 to 1000000',
    'PIXGATE_LOG_LEVEL must be one of error, warn, info, debug, trace',
  ])
  assert.deepEqual(sandboxFaults({ PIXGATE_RATE_LIMIT_PER_MINUTE: '0', PIXGATE_LOG_LEVEL: 'silent' }), [])
})

test('[production.2] a secret that is easy to guess is refused by name, whichever it is; the sandbox takes it', () => {
  for (const name of [
    'PIXGATE_ADMIN_TOKEN',
    'PIXGATE_METRICS_TOKEN',
    'PIXGATE_ENCRYPTION_KEY',
    'PIXGATE_PARTNER_TOKEN',
    'PIXGATE_PARTNER_SECRET',
    'PIXGATE_PARTNER_SECRET_PREVIOUS',
  ]) {
    assert.deepEqual(faultsOf({ [name]: 'a'.repeat(64) }), [`${name} ${GUESSABLE}`])
    assert.deepEqual(sandboxFaults({ [name]: 'a'.repeat(64) }), [])
  }
})

test('[production.2] a secret that is too short is told that, once', () => {
  assert.deepEqual(faultsOf({ PIXGATE_PARTNER_SECRET: 'aaaa' }), [
    'PIXGATE_PARTNER_SECRET must be at least 32 characters long',
  ])
})

test('[production.2] the database’s password is none of a document, nor a common word', () => {
  const of = (password: string) => faultsOf({ DATABASE_URL: `postgres://pix:${password}@127.0.0.1/pix` })
  const refused = ['DATABASE_URL has a password that is easy to guess: make one with openssl rand -hex 32']
  for (const password of ['choose-one', 'choose-another', 'PASSWORD', 'changeme', 'postgres', 'pixgate123', '123456']) {
    assert.deepEqual(of(password), refused, password)
  }
  for (const password of [CANARY, 'kV3xO9d2']) assert.deepEqual(of(password), [], password)
  assert.deepEqual(faultsOf({ DATABASE_URL: 'postgres:///pix?host=/var/run/postgresql' }), [], 'a socket needs none')
})

test('[production.3] production says who its proxies are, or that there are none', () => {
  assert.deepEqual(faultsOf({ PIXGATE_TRUST_PROXY: '' }), [
    'PIXGATE_TRUST_PROXY is required in production: addresses or CIDRs, separated by commas, or none (docs/guides/operator.md#sandbox-and-production)',
  ])
  assert.deepEqual(faulty({ PIXGATE_TRUST_PROXY: ' , ' }), ['PIXGATE_TRUST_PROXY'])
  assert.deepEqual(readConfig({ ...PRODUCTION, PIXGATE_TRUST_PROXY: 'none' }).trustProxy, [])
  assert.deepEqual(readConfig({ ...PRODUCTION, PIXGATE_TRUST_PROXY: '10.0.0.0/8' }).trustProxy, ['10.0.0.0/8'])
  for (const wide of ['0.0.0.0/1,128.0.0.0/1', '::ffff:0:0/96', '::/1', '8.0.0.0/7']) {
    assert.deepEqual(faulty({ PIXGATE_TRUST_PROXY: wide }), ['PIXGATE_TRUST_PROXY'], wide)
    assert.deepEqual(sandboxFaults({ PIXGATE_TRUST_PROXY: wide }), [], wide)
  }
})

test('[limits.10] a cap that is not set is refused with what to set, and where the guide explains it', () => {
  for (const span of ['PAYMENT', 'HOUR', 'DAY', 'NIGHT']) {
    const name = `PIXGATE_${span}_MAX_CENTS`
    assert.deepEqual(faultsOf({ [name]: '' }), [
      `${name} is required in production: a whole number of centavos from 1 to 999999999999, or none (docs/guides/operator.md#limits)`,
    ])
  }
})

test('[production.4] without a proxy production listens on loopback and private addresses only', () => {
  const reached = ['0.0.0.0', '::', '203.0.113.7', '2001:db8::1', '::ffff:0.0.0.0', 'api.example.com', '172.32.0.1']
  for (const HOST of reached) {
    const [fault = '', ...more] = faultsOf({ HOST })
    assert.match(fault, /^HOST may be reached by others, in plain HTTP: name the proxy/)
    assert.deepEqual(more, [], HOST)
    assert.deepEqual(faulty({ HOST, PIXGATE_TRUST_PROXY: '10.0.0.7' }), [], HOST)
    assert.deepEqual(sandboxFaults({ HOST }), [], HOST)
  }
  for (const HOST of ['', '127.0.0.1', '::1', 'localhost', '10.1.2.3', '172.16.0.1', '192.168.0.1', 'fd00::1']) {
    assert.deepEqual(faulty({ HOST }), [], HOST)
  }
})

test('[production.7] a static key of the bank needs the addresses that it comes from', () => {
  const key = { PIXGATE_PARTNER_INBOUND_API_KEY: `${CANARY}-inbound` }
  const refused = ['PIXGATE_PARTNER_INBOUND_API_KEY needs PIXGATE_PARTNER_ADDRESSES in production']
  assert.deepEqual(faultsOf(key), refused)
  assert.deepEqual(sandboxFaults(key), [])
  assert.deepEqual(faulty({ ...key, PIXGATE_PARTNER_ADDRESSES: ' , ' }), [
    'PIXGATE_PARTNER_ADDRESSES',
    'PIXGATE_PARTNER_INBOUND_API_KEY',
  ])
  assert.deepEqual(faulty({ ...key, PIXGATE_PARTNER_ADDRESSES: '0.0.0.0/0' }), ['PIXGATE_PARTNER_ADDRESSES'])
  assert.deepEqual(faulty({ PIXGATE_PARTNER_ADDRESSES: 'none' }), ['PIXGATE_PARTNER_ADDRESSES'])
  assert.deepEqual(faulty({ ...key, PIXGATE_PARTNER_ADDRESSES: '203.0.113.0/24, 2001:db8::7' }), [])
})

const DEBUGGER = 'whoever connects reads every secret and runs what they like'

const onCommandLine = (...flags: string[]) => runtimeFaults({}, { flags, debuggerUrl: undefined })
const inEnvironment = (environment: Environment) => runtimeFaults(environment, { flags: [], debuggerUrl: undefined })

test('[production.5] whatever would switch the verification of TLS off is refused, in any form', () => {
  for (const value of ['0', ' 0', '0 ', '00', 'false', 'no']) {
    assert.deepEqual(
      inEnvironment({ NODE_TLS_REJECT_UNAUTHORIZED: value }),
      ['NODE_TLS_REJECT_UNAUTHORIZED must not be set: the bank, receivers and the database are verified'],
      value,
    )
  }
  for (const value of ['', '1', undefined]) assert.deepEqual(inEnvironment({ NODE_TLS_REJECT_UNAUTHORIZED: value }), [])
})

test('[production.5] flags of a debugger are refused in any form, wherever they stand', () => {
  for (const flag of [
    ...['--inspect', '--inspect=0', '--inspect-brk', '--inspect_brk=127.0.0.1:1', '--inspect-port=1', '--inspect-wait'],
    ...['--inspect-publish-uid=http', '--debug', '--debug-port=1', '--debug_brk', '--INSPECT'],
  ]) {
    const name = flag.replace(/=.*/, '').replaceAll('_', '-').toLowerCase()
    const refused = (where: string) => [`${name} must not be set ${where}: ${DEBUGGER}`]
    assert.deepEqual(onCommandLine('--trace-warnings', flag), refused('on the command line'))
    assert.deepEqual(inEnvironment({ NODE_OPTIONS: `--trace-warnings ${flag}` }), refused('in NODE_OPTIONS'))
  }
  assert.equal(inEnvironment({ NODE_OPTIONS: '"--ins"pect\\"-brk"' }).length, 1, 'Node.js takes quotes out')
})

test('[production.5] an open debugger is refused, however it was opened', () => {
  const debuggerUrl = 'ws://127.0.0.1:9229/x'
  const open = `a debugger is open in this process: ${DEBUGGER}`
  assert.deepEqual(runtimeFaults({}, { flags: [], debuggerUrl }), [open])
  assert.equal(runtimeFaults({}, { flags: ['--inspect'], debuggerUrl }).length, 1, 'and told once')
})

test('[production.5] flags that weaken or show what is sent are refused, and all others are not', () => {
  for (const flag of [
    ...['--insecure-http-parser', '--tls-min-v1.0', '--tls-min-v1.1', '--tls-keylog=/tmp/keys', '--trace-tls'],
    ...['--heapsnapshot-signal=SIGUSR2', '--heapsnapshot-near-heap-limit=1', '--report-on-signal', '--heap-prof'],
    ...['--experimental-default-config-file', '--experimental-config-file=node.config.json'],
  ]) {
    assert.equal(onCommandLine(flag).length, 1, flag)
  }
  const flags = ['--disable-sigusr1', '--max-old-space-size=512', '--tls-min-v1.3', '--require=./inspect.cjs', '-p']
  assert.deepEqual(onCommandLine(...flags), [])
  assert.deepEqual(inEnvironment({ NODE_OPTIONS: flags.join(' ') }), [])
  assert.equal(inEnvironment({ NODE_DEBUG: 'http' }).length, 1)
})

const PROGRAM = fileURLToPath(new URL('../src/main.ts', import.meta.url))

/** Starts the server so that only this is wrong with it, and returns what it says of that. */
function refusal(flags: readonly string[], environment: Environment): string {
  const { status, stderr } = spawnSync(process.execPath, [...flags, PROGRAM, 'api'], {
    env: { ...PROGRAM_ENVIRONMENT, ...PRODUCTION, ...environment } as NodeJS.ProcessEnv,
    cwd: tmpdir(),
    encoding: 'utf8',
  })
  assert.equal(status, 2, stderr)
  return stderr.split('pixgate: ')[1] ?? ''
}

test('[production.5] a real start is refused for what Node.js was told, by its name, with all other faults', (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'pixgate-runtime-'))
  t.after(() => rmSync(directory, { recursive: true }))
  const file = join(directory, 'node.env')
  writeFileSync(file, "NODE_TLS_REJECT_UNAUTHORIZED='0'\n")
  for (const [flags, environment, name] of [
    [[], { NODE_TLS_REJECT_UNAUTHORIZED: '0' }, 'NODE_TLS_REJECT_UNAUTHORIZED must not be set'],
    [[`--env-file=${file}`], {}, 'NODE_TLS_REJECT_UNAUTHORIZED must not be set'],
    [['--inspect=127.0.0.1:0'], {}, '--inspect must not be set on the command line'],
    [[], { NODE_OPTIONS: '--inspect=127.0.0.1:0' }, '--inspect must not be set in NODE_OPTIONS'],
    [[], { NODE_OPTIONS: '--inspect-port=0' }, '--inspect-port must not be set in NODE_OPTIONS'],
    [
      [`--import=data:text/javascript,import{open}from'node:inspector';open(0)`],
      {},
      'a debugger is open in this process',
    ],
  ] as const) {
    const said = refusal(flags, { ...environment, PORT: 'x' })
    assert.match(said, new RegExp(`^the configuration is not usable:\\n  - ${name}.*\\n  - PORT must be`))
    assert.ok(!said.includes(CANARY))
  }
})
