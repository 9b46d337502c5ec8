import assert from 'node:assert/strict'
import test from 'node:test'
import {
  createGuardedAgent,
  NotConnected,
  privateNetworkGate,
  publicAddressGate,
} from '../../../src/platform/http-client/agent.ts'
import { post } from '../../../src/platform/http-client/post.ts'
import { startReceiver } from '../../support/webhook-receiver.ts'

const ALLOWED = [
  { network: '10.20.0.0/16', port: 8_443 },
  { network: '10.20.0.7', port: 9_443 },
  { network: 'fd12:3456::/48', port: 443 },
]

test('[webhooks.26] a private address is allowed in its network with its port, and nowhere else', () => {
  const gate = privateNetworkGate(ALLOWED)
  const allowed: [string, number][] = [
    ['10.20.0.0', 8_443],
    ['10.20.255.255', 8_443],
    ['10.20.0.7', 9_443],
    ['fd12:3456::1', 443],
    ['fd12:3456:0:ffff:ffff:ffff:ffff:ffff', 443],
    ['8.8.8.8', 443],
    ['2606:4700::1111', 8_443],
  ]
  for (const [address, port] of allowed) assert.equal(gate.allows(address, port), true, `${address} ${port}`)
  const refused: [string, number][] = [
    ['10.20.0.1', 443],
    ['10.20.0.1', 8_080],
    ['10.20.0.8', 9_443],
    ['10.19.255.255', 8_443],
    ['10.21.0.0', 8_443],
    ['fd12:3456::1', 8_443],
    ['fd12:3457::1', 443],
    ['::ffff:10.20.0.1', 8_443],
    ['::ffff:a14:1', 8_443],
    ['64:ff9b::a14:1', 8_443],
    ['2002:a14:1::', 8_443],
    ['10.20.0.1 ', 8_443],
    ['10.20.1', 8_443],
    ['', 8_443],
    ...['127.0.0.1', '::1', '0.0.0.0', '169.254.169.254', 'fe80::1', 'fd00:ec2::254', '168.63.129.16', '224.0.0.1'].map(
      (address): [string, number] => [address, 8_443],
    ),
  ]
  for (const [address, port] of refused) assert.equal(gate.allows(address, port), false, `${address} ${port}`)
  assert.equal(publicAddressGate().allows('10.20.0.1', 8_443), false)
})

test('[webhooks.26] one address that is not allowed refuses the whole name', async () => {
  const answers: Record<string, readonly string[]> = {
    'inside.example': ['10.20.0.1', '10.20.0.2'],
    'both.example': ['8.8.8.8', '10.20.0.1'],
    'mixed.example': ['10.20.0.1', '10.21.0.1'],
    'loopback.example': ['10.20.0.1', '127.0.0.1'],
  }
  const gate = privateNetworkGate(ALLOWED, async (hostname) => answers[hostname] ?? [])
  for (const name of ['inside.example', 'both.example']) {
    assert.deepEqual(await gate.addressesOf(name, 8_443), answers[name])
    await assert.rejects(gate.addressesOf(name, 443), NotConnected, name)
  }
  for (const name of ['mixed.example', 'loopback.example']) {
    await assert.rejects(gate.addressesOf(name, 8_443), { reason: 'address_not_allowed' }, name)
  }
})

test('[webhooks.26] the port of the URL is judged at every connection, for names and literals, and a redirect is not followed', async (t) => {
  const inside = await startReceiver(t, (response) => response.writeHead(307, { location: other.url }).end())
  const other = await startReceiver(t)
  const [port, otherPort] = [inside, other].map(({ url }) => Number(new URL(url).port))
  let address = '127.0.0.1'
  const gate = privateNetworkGate([{ network: '127.0.0.1', port: port ?? 0 }], async () => [address])
  const agent = createGuardedAgent(gate, 500)
  t.after(() => agent.destroy())
  const answerOf = async (url: string) => {
    const bounds = { timeoutMs: 2_000, responseMaxBytes: 16_384, responseTimeoutMs: 1_000 }
    return (await post(agent, { url, headers: {}, body: Buffer.from('{}'), ...bounds })).answer
  }
  const refused = { failure: 'address_not_allowed', code: undefined }
  assert.partialDeepStrictEqual(await answerOf(`http://erp.example:${port}/`), { statusCode: 307 })
  assert.deepEqual(await answerOf(`http://erp.example:${otherPort}/`), refused)
  assert.deepEqual(await answerOf(`http://127.0.0.1:${otherPort}/`), refused)
  address = '127.0.0.2'
  await inside.close()
  assert.deepEqual(await answerOf(`http://erp.example:${port}/`), refused, 'it leads elsewhere now')
  assert.deepEqual([inside.received.length, other.received.length], [1, 0])
})
