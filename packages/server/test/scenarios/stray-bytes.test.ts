import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { text as readText } from 'node:stream/consumers'
import test from 'node:test'
import { world } from '../support/world.ts'

test('[http.15] [PL-62] a payout with stray bytes behind it in the packet is accepted and answered 201', async (t) => {
  const pix = await world(t)
  await pix.balance(100_00)
  const body = JSON.stringify({
    transaction: { value: 30, externalId: 'payout-stray' },
    recipient: { pixKey: 'joao@example.com', pixKeyType: 'email' },
  })
  const head = [
    'POST /api/pix/cash-out HTTP/1.1',
    'Host: gateway.example',
    `Authorization: Bearer ${pix.apiKey}`,
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
  ]
  const socket = connect({ host: '127.0.0.1', port: Number(new URL(pix.url).port) })
  socket.write(`${head.join('\r\n')}\r\n\r\n${body}}\r\n\r\ngarbage`)
  const [answer = '', ...more] = (await readText(socket)).split(/(?=HTTP\/1\.1 )/)
  assert.match(answer, /^HTTP\/1\.1 201 /)
  assert.deepEqual(more, [])
  const { id } = JSON.parse(answer.slice(answer.indexOf('\r\n\r\n')))
  const { data } = await pix.get('/api/pix/cash-out')
  assert.deepEqual(
    data.map((payout: { id: string }) => payout.id),
    [id],
  )
})
