import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, cpSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import test, { type TestContext } from 'node:test'
import { testPort } from '../../../packages/server/test/support/port.ts'
import { ROOT } from '../../check/repository.ts'
import { blocksOf } from './guide.ts'
import { bareMachine, preparedDatabase, productionSettings, ready, settingsFile } from './installation.ts'

/** The guide's rehearsal of an installation with the simulated bank, line by line. */
const [prepare = '', install = '', , migrate = '', api = '', worker = ''] = blocksOf('Starting it for real', 'sh')
const [, connect = '', register = '', charge = '', payAndRefund = '', look = ''] = blocksOf(
  'Rehearsing with the simulated bank',
  'sh',
)

interface Ports {
  readonly api: number
  readonly bank: number
  readonly controls: number
}

/** Starts the simulated bank as `npm run bank -- --api-pix` does. @returns the folder of its certificates */
async function startBank(t: TestContext, folder: string, ports: Ports): Promise<string> {
  const certificates = join(folder, 'bank-certificates')
  const bank = spawn(process.execPath, [join(ROOT, 'packages/bank-simulator/src/main.ts'), '--api-pix'], {
    env: {
      PATH: process.env.PATH ?? '',
      PIXGATE_SIMULATOR_PORT: `${ports.controls}`,
      PIXGATE_SIMULATOR_API_PIX_PORT: `${ports.bank}`,
      PIXGATE_SIMULATOR_PAYLOAD_PORT: '0',
      PIXGATE_SIMULATOR_DATA_DIR: join(folder, 'bank'),
      PIXGATE_SIMULATOR_CERTIFICATES_DIR: certificates,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.after(() => bank.kill('SIGKILL'))
  const [line] = await once(createInterface(bank.stdout), 'line')
  assert.equal(JSON.parse(line).ready, true)
  return certificates
}

/** Repeats a command until it prints this, for a minute at most. */
function until(command: string, text: string): string {
  return `n=0; until ${command} | grep -q '${text}'; do n=$((n + 1)); [ $n -lt 300 ]; sleep 0.2; done\n`
}

test('the guide’s rehearsal charges, pays out and refunds at the simulated bank, in production', {
  timeout: 600_000,
}, async (t) => {
  const machine = await bareMachine(t)
  const { folder, here, succeed, start } = machine
  const ports = { api: await testPort(), bank: await testPort(), controls: await testPort() }
  const onThisMachine = (lines: string) =>
    here(lines)
      .replaceAll('127.0.0.1:8080', `127.0.0.1:${ports.api}`)
      .replaceAll('localhost:8443', `localhost:${ports.bank}`)
      .replaceAll('127.0.0.1:8081', `127.0.0.1:${ports.controls}`)
  const { server, owner } = await preparedDatabase(t)
  await succeed(here(prepare))
  await succeed(here(install))
  const settings = {
    pixgate: productionSettings({ DATABASE_URL: server, PORT: `${ports.api}` }),
    migration: { PIXGATE_MODE: 'production', PIXGATE_MIGRATION_URL: owner },
  }
  for (const [name, values] of Object.entries(settings)) {
    const file = join(folder, `etc/pixgate/${name}.env`)
    writeFileSync(file, settingsFile(values))
    chmodSync(file, 0o666)
  }
  await succeed(here(migrate))

  const made = await startBank(t, folder, ports)
  const certificates = join(folder, 'certificates')
  cpSync(made, certificates, { recursive: true })
  for (const name of readdirSync(certificates)) chmodSync(join(certificates, name), 0o644)
  await succeed(onThisMachine(connect.replace('$PWD/.pixgate-bank/certificates', certificates)))
  const processes = [api, worker].map((lines) => start(here(lines).replace(/^(?=\S+\/pixgate )/m, 'exec ')))
  for (const process of processes) await ready(process)

  const inOneShell = [
    register,
    charge,
    until('call "$KEY" "/api/pix/cash-in/$CHARGE"', '"status":"PAID"'),
    payAndRefund,
    until('call "$KEY" /api/pix/events', 'pix_cash_out.*pix_cash_in_reversal\\|pix_cash_in_reversal.*pix_cash_out'),
    look,
  ]
  const printed = await succeed(onThisMachine(inOneShell.join('\n')))
  assert.match(printed, /the bank reached PIXGATE_BANK_CALLBACK_URL/)
  assert.match(printed, /"amount":10,/)
  assert.match(printed, /no drift/)
})
