import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import forge from 'node-forge'
import { wallNow } from './wall-clock.ts'

/** A key and its certificate, both as text and as files. */
export interface Certificate {
  readonly key: string
  readonly cert: string
  /** Of the certificate: who trusts that file trusts it. */
  readonly path: string
  readonly keyPath: string
}

/** An authority of a test's. */
export interface Authority extends Certificate {
  /** Makes a certificate of a machine of this name. */
  issue(name: string): Certificate
}

/** One of a machine of this name, signed by itself, which goes with the test. */
export function certificateOf(t: TestContext, name: string): Certificate {
  return kept(t, signedPair({ name, ...goodFor(2) }))
}

/** One of localhost that was good for a day in 2020. */
export function endedCertificate(t: TestContext): Certificate {
  const validity = { notBefore: new Date('2020-01-01'), notAfter: new Date('2020-01-02') }
  return kept(t, signedPair({ name: 'localhost', ...validity }))
}

/** An authority, which goes with the test. */
export function authorityOf(t: TestContext, name: string): Authority {
  const authority = certificateOf(t, name)
  const issuer = { name, key: authority.key }
  return { ...authority, issue: (subject) => kept(t, signedPair({ name: subject, issuer, ...goodFor(2) })) }
}

const DAY_MS = 86_400_000

/** From two years ago, as TLS goes by the machine's clock when that of the tests is shifted, until so many days from now. */
function goodFor(days: number) {
  return { notBefore: new Date(wallNow() - 730 * DAY_MS), notAfter: new Date(wallNow() + days * DAY_MS) }
}

/** What a certificate is to say. */
interface CertificateOrder {
  readonly name: string
  readonly notBefore: Date
  readonly notAfter: Date
  /** Absent: it is signed by itself, and may sign others. */
  readonly issuer?: { readonly name: string; readonly key: string }
}

/** Makes a key and its certificate, both PEM. */
export function signedPair({ name, notBefore, notAfter, issuer }: CertificateOrder): Pick<Certificate, 'key' | 'cert'> {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', {
    modulusLength: 2_048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  })
  const certificate = forge.pki.createCertificate()
  certificate.publicKey = forge.pki.publicKeyFromPem(publicKey)
  // Below 80, so that it is no negative number.
  certificate.serialNumber = `4f${randomBytes(15).toString('hex')}`
  certificate.validity.notBefore = notBefore
  certificate.validity.notAfter = notAfter
  certificate.setSubject([{ name: 'commonName', value: name }])
  certificate.setIssuer([{ name: 'commonName', value: issuer?.name ?? name }])
  certificate.setExtensions([{ name: 'basicConstraints', cA: issuer === undefined, critical: true }])
  certificate.sign(forge.pki.privateKeyFromPem(issuer?.key ?? privateKey), forge.md.sha256.create())
  return { key: privateKey, cert: forge.pki.certificateToPem(certificate) }
}

function kept(t: TestContext, pair: Pick<Certificate, 'key' | 'cert'>): Certificate {
  const folder = mkdtempSync(join(tmpdir(), 'pixgate-certificate-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const [path, keyPath] = [join(folder, 'cert'), join(folder, 'key')]
  writeFileSync(path, pair.cert)
  writeFileSync(keyPath, pair.key)
  return { ...pair, path, keyPath }
}
