import assert from 'node:assert/strict'
import test from 'node:test'
import { listeningUrl, urlOf } from '../../../src/platform/http/server.ts'

test('[reference.5] whatever a server listens on, this machine reaches it', () => {
  assert.equal(urlOf({ host: '127.0.0.1', port: 8080 }), 'http://127.0.0.1:8080')
  assert.equal(urlOf({ host: 'pixgate.internal', port: 80 }), 'http://pixgate.internal:80')
  for (const host of ['0.0.0.0', '::']) assert.equal(urlOf({ host, port: 9 }), 'http://127.0.0.1:9')
  assert.equal(urlOf({ host: '::1', port: 9 }), 'http://[::1]:9')
})

test('[reference.5] a server without a port has no address to tell', () => {
  assert.equal(
    listeningUrl({ address: () => ({ address: '127.0.0.1', family: 'IPv4', port: 9 }) }),
    'http://127.0.0.1:9',
  )
  assert.equal(listeningUrl({ address: () => null }), undefined)
  assert.equal(listeningUrl({ address: () => '/run/pixgate.sock' }), undefined)
})
