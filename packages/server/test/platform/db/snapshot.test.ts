import assert from 'node:assert/strict'
import { once } from 'node:events'
import net, { type AddressInfo } from 'node:net'
import test from 'node:test'
import { withSnapshot } from '../../../src/platform/db/snapshot.ts'

test('[health.3] a look that is given up while it connects ends at once', async (t) => {
  const mute = net.createServer((socket) => t.after(() => socket.destroy())).listen(0, '127.0.0.1')
  await once(mute, 'listening')
  t.after(() => mute.close())
  const stopping = new AbortController()
  const url = `postgres://127.0.0.1:${(mute.address() as AddressInfo).port}/none`
  const look = withSnapshot({ url, name: 'pixgate test', signal: stopping.signal }, async () => 'looked')
  await once(mute, 'connection')
  stopping.abort()
  await assert.rejects(look, { name: 'AbortError' })
})
