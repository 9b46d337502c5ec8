import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import test, { type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { Agent } from 'undici'
import { basic, send } from '../support/api-pix.ts'
import { bankDirectory, callsTo, TOKEN } from '../support/bank.ts'

const PROGRAM = fileURLToPath(new URL('../../src/main.ts', import.meta.url))

const TERMS = { calendario: {}, valor: { original: '1.00' }, chave: '11222333000181' }

async function startProcess(t: TestContext, directory: string) {
  const env = {
    ...process.env,
    PIXGATE_SIMULATOR_PORT: '0',
    PIXGATE_SIMULATOR_API_PIX_PORT: '0',
    PIXGATE_SIMULATOR_PAYLOAD_PORT: '0',
    PIXGATE_SIMULATOR_DATA_DIR: directory,
    PIXGATE_PARTNER_TOKEN: TOKEN,
  }
  const child = spawn(process.execPath, [PROGRAM, '--api-pix'], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  t.after(() => child.kill('SIGKILL'))
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string]
  const { port, apiPix } = JSON.parse(line)
  const { ca, clientCertificate, clientKey } = apiPix.certificates
  const [caPem, cert, key] = await Promise.all([ca, clientCertificate, clientKey].map((path) => readFile(path, 'utf8')))
  const agent = new Agent({ connect: { ca: caPem ?? '', cert: cert ?? '', key: key ?? '' } })
  t.after(() => agent.destroy())
  const authorization = basic({ id: 'pixgate', secret: 'pixgate' })
  const token = await send(
    apiPix,
    agent,
    'POST',
    '/oauth/token',
    { grant_type: 'client_credentials' },
    { authorization },
  )
  const headers = { authorization: `Bearer ${token.body.access_token}` }
  const call = (method: string, path: string, body?: unknown) => send(apiPix, agent, method, path, body, headers)
  return { child, cert, call, control: callsTo(`http://127.0.0.1:${port}`) }
}

test('[sandbox.20] after kill -9 the bank has all acknowledged charges and the same certificates', async (t) => {
  const directory = await bankDirectory(t)
  const bank = await startProcess(t, directory)
  const answered: string[] = []
  const callers = Array.from({ length: 8 }, async (_, caller) => {
    for (let turn = 0; ; turn++) {
      const txid = `cobranca${caller}x${String(turn).padStart(20, '0')}`
      await bank.call('PUT', `/v2/cob/${txid}`, TERMS)
      if (answered.push(txid) === 60) bank.child.kill('SIGKILL')
    }
  })
  await Promise.allSettled([...callers, once(bank.child, 'exit')])
  const again = await startProcess(t, directory)
  assert.equal(again.cert, bank.cert)
  const { charges } = (await again.control('GET', '/control/book')).body
  const known = new Set(charges.map(({ id }: { id: string }) => id))
  assert.deepEqual(
    answered.filter((txid) => !known.has(txid)),
    [],
  )
  assert.equal((await again.call('GET', `/v2/cob/${answered[0]}`)).body.status, 'ATIVA')
})
