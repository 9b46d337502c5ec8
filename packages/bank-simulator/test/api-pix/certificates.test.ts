import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'node:test'
import { createSecureContext } from 'node:tls'
import { Agent } from 'undici'
import { certificatesIn } from '../../src/api-pix/certificates.ts'
import { type Credential, createAuthority } from '../../src/index.ts'
import { agentOf, CLIENT, certificatesDirectory, send, startApiPixBank, tokenOf } from '../support/api-pix.ts'
import { bankDirectory } from '../support/bank.ts'

test('[sandbox.14] a client without a certificate, with one of another CA or with an expired one cannot connect', async (t) => {
  const { apiPix } = await startApiPixBank(t)
  const day = 86_400_000
  const { notBefore } = {
    notBefore: new Date(Date.parse(new X509Certificate(apiPix.certificates.client.certificate).validFrom)),
  }
  const ended = await apiPix.certificates.authority.issue({
    name: 'client',
    use: 'client',
    notBefore,
    notAfter: new Date(notBefore.getTime() + day),
  })
  const foreign = await (await createAuthority('another')).issue({ name: 'client', use: 'client' })
  const isConnected = async (client: Credential | undefined) => {
    const { ca } = { ca: apiPix.certificates.authority.certificate }
    const agent = new Agent({ connect: { ca, ...(client && { cert: client.certificate, key: client.key }) } })
    const connected = await send(apiPix, agent, 'GET', '/v2/cob/x').then(
      () => true,
      () => false,
    )
    await agent.destroy()
    return connected
  }
  assert.deepEqual(await Promise.all([undefined, ended, foreign, apiPix.certificates.client].map(isConnected)), [
    false,
    false,
    false,
    true,
  ])
})

test('[sandbox.14] the client certificate is also a PKCS#12 file, which only the passphrase opens', async (t) => {
  const { apiPix } = await startApiPixBank(t)
  const pfx = await readFile(apiPix.files.clientPkcs12)
  const ca = await readFile(apiPix.files.ca, 'utf8')
  const agent = new Agent({ connect: { ca, pfx, passphrase: 'pixgate' } })
  t.after(() => agent.destroy())
  assert.match(await tokenOf(apiPix, agent), /^[\w-]{43}$/)
  assert.throws(() => createSecureContext({ pfx, passphrase: 'another' }))
  assert.equal((await stat(apiPix.files.clientKey)).mode & 0o077, 0)
})

test('[sandbox.14] an empty passphrase opens a PKCS#12 file that was made with one', async (t) => {
  const certificatesDirectory = join(await bankDirectory(t), 'certificates')
  const { apiPix } = await startApiPixBank(t, {
    apiPix: { port: 0, certificatesDirectory, client: CLIENT, passphrase: '' },
  })
  const pfx = await readFile(apiPix.files.clientPkcs12)
  const ca = await readFile(apiPix.files.ca, 'utf8')
  const agent = new Agent({ connect: { ca, pfx, passphrase: '' } })
  t.after(() => agent.destroy())
  assert.match(await tokenOf(apiPix, agent), /^[\w-]{43}$/)
})

test('[sandbox.14] a further name is added to the server’s certificate; the CA stays', async (t) => {
  const directory = join(await bankDirectory(t), 'certificates')
  const first = await certificatesIn(directory)
  const certificateNames = ['bank', '10.1.2.3', '::1']
  const second = await certificatesIn(directory, { certificateNames })
  const certificate = new X509Certificate(second.server.certificate)
  assert.ok(['localhost', 'bank'].every((name) => certificate.checkHost(name)))
  assert.ok(['10.1.2.3', '::1'].every((address) => certificate.checkIP(address)))
  assert.equal(second.authority.certificate, first.authority.certificate)
  const third = await certificatesIn(directory, { certificateNames })
  assert.equal(third.server.certificate, second.server.certificate)
})

test('[sandbox.14] a restart reuses the existing certificates', async (t) => {
  const directory = join(await bankDirectory(t), 'certificates')
  const first = await certificatesIn(directory, { passphrase: 'one' })
  const second = await certificatesIn(directory, { passphrase: 'another' })
  assert.equal(second.server.certificate, first.server.certificate)
  assert.equal(second.client.key, first.client.key)
  const pfx = await readFile(second.files.clientPkcs12)
  createSecureContext({ pfx, passphrase: 'another' })
  const issued = await second.authority.issue({ name: 'a', use: 'client' })
  assert.ok(new X509Certificate(issued.certificate).verify(new X509Certificate(first.authority.certificate).publicKey))
})

test('[sandbox.14] the server’s certificate is valid for localhost, its IP address and the host of its locations', async () => {
  const { server } = await certificatesIn(await certificatesDirectory())
  const certificate = new X509Certificate(server.certificate)
  assert.ok(certificate.checkHost('localhost'))
  assert.ok(certificate.checkHost('bank.example'))
  assert.ok(certificate.checkIP('127.0.0.1'))
  assert.equal(certificate.checkHost('pix.example'), undefined)
})

test('[sandbox.14] every client on the same machine needs a certificate', async (t) => {
  const { apiPix } = await startApiPixBank(t)
  const anonymous = agentOf(apiPix, { certificate: '', key: '' })
  t.after(() => anonymous.destroy())
  await assert.rejects(send(apiPix, anonymous, 'POST', '/oauth/token', { grant_type: 'client_credentials' }))
})
