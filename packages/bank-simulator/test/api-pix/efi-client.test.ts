import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import test from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { CLIENT, KEYS, startApiPixBank } from '../support/api-pix.ts'
import { TOKEN } from '../support/bank.ts'
import { startReceiver } from '../support/callback-receiver.ts'

const PROGRAM = fileURLToPath(new URL('../support/efi-client.ts', import.meta.url))

test('[sandbox.14] [sandbox.15] [sandbox.18] Efí’s own client creates a charge, reads its payment, returns part of it, registers a webhook and sends a Pix', async (t) => {
  const bank = await startApiPixBank(t)
  const receiver = await startReceiver(t, bank.apiPix)
  const { url, files } = bank.apiPix
  const { clientCertificate: certificate, clientKey: key, ca } = files
  const given = { url, control: bank.url, token: TOKEN, certificate, key, pixKey: KEYS[1], client: CLIENT }
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [PROGRAM, JSON.stringify({ ...given, webhookUrl: receiver.url })],
    { env: { ...process.env, NODE_EXTRA_CA_CERTS: ca }, timeout: 60_000 },
  )
  const said = JSON.parse(stdout)
  assert.equal(said.webhook.webhookUrl, receiver.url)
  assert.deepEqual([said.charge.status, said.paid.status, said.paid.pix[0].valor], ['ATIVA', 'CONCLUIDA', '123.45'])
  assert.equal(said.received.pix[0].endToEndId, said.paid.pix[0].endToEndId)
  assert.deepEqual([said.returned.status, said.returned.valor], ['DEVOLVIDO', '23.45'])
  assert.match(said.made.txid, /^[0-9a-f]{32}$/)
  assert.deepEqual([said.sent.status, said.sent.valor, said.saldo], ['REALIZADO', '10.00', '90.00'])
  assert.match(said.unknown.type, /CobNaoEncontrado$/)
  const values = (await receiver.arrived(4)).flatMap(({ body }) => body.pix ?? []).map(({ valor }) => valor)
  assert.deepEqual(values.sort(), ['10.00', '123.45', '123.45'])
})
