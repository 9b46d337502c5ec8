import { generateKeyPair, randomBytes } from 'node:crypto'
import { isIP } from 'node:net'
import { promisify } from 'node:util'
import forge from 'node-forge'

/** A certificate and its private key, both PEM. */
export interface Credential {
  readonly certificate: string
  readonly key: string
}

/** Content of a certificate to issue. */
export interface CertificateOrder {
  readonly name: string
  /** Extended key usage: server or client authentication. */
  readonly use: 'server' | 'client'
  /** Host names and IP addresses of a server. */
  readonly hosts?: readonly string[]
  /** Two years ago by default, to tolerate clock skew. */
  readonly notBefore?: Date
  /** In ten years by default. */
  readonly notAfter?: Date
}

/** A certificate authority (CA). */
export interface Authority extends Credential {
  /** Generates a key pair and issues a certificate for it. */
  issue(order: CertificateOrder): Promise<Credential>
}

const KEY_BITS = 2048

const DAY_MS = 86_400_000

const newKeyPair = promisify(generateKeyPair)

/** Creates a private CA with a new key pair. */
export async function createAuthority(name = 'Pixgate bank simulator CA'): Promise<Authority> {
  const pair = await keyPair()
  const extensions = [
    { name: 'basicConstraints', cA: true, critical: true },
    { name: 'keyUsage', keyCertSign: true, cRLSign: true, critical: true },
    { name: 'subjectKeyIdentifier' },
  ]
  const certificate = signed({ name, publicKey: pair.publicKey, extensions }, { name, key: pair.key })
  return authorityOf({ certificate, key: pair.key })
}

/** The CA of a credential that {@link createAuthority} made. */
export function authorityOf(credential: Credential): Authority {
  const name = forge.pki.certificateFromPem(credential.certificate).subject.getField('CN').value
  return {
    ...credential,
    issue: async ({ name: subject, use, hosts = [], ...validity }) => {
      const pair = await keyPair()
      const extensions = [
        { name: 'basicConstraints', cA: false },
        { name: 'keyUsage', digitalSignature: true, keyEncipherment: true, critical: true },
        { name: 'extKeyUsage', serverAuth: use === 'server', clientAuth: use === 'client' },
        ...(hosts.length > 0 ? [{ name: 'subjectAltName', altNames: hosts.map(alternativeName) }] : []),
      ]
      const order = { name: subject, publicKey: pair.publicKey, extensions, ...validity }
      return { certificate: signed(order, { name, key: credential.key }), key: pair.key }
    },
  }
}

/** A credential as a PKCS#12 file (AES-256), with the CA's certificate. The passphrase may be empty. */
export function pkcs12Of({ certificate, key }: Credential, authority: string, passphrase: string): Buffer {
  const chain = [certificate, authority].map((pem) => forge.pki.certificateFromPem(pem))
  const privateKey = forge.pki.privateKeyFromPem(key)
  // One round of key derivation: the folder has the key unencrypted as well, so more would only slow each start.
  const file = forge.pkcs12.toPkcs12Asn1(privateKey, chain, passphrase, { algorithm: 'aes256', count: 1 })
  return Buffer.from(forge.asn1.toDer(file).getBytes(), 'binary')
}

async function keyPair(): Promise<{ publicKey: string; key: string }> {
  const { publicKey, privateKey } = await newKeyPair('rsa', {
    modulusLength: KEY_BITS,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  })
  return { publicKey, key: privateKey }
}

/** Input of {@link signed}. */
interface Unsigned extends Pick<CertificateOrder, 'name' | 'notBefore' | 'notAfter'> {
  readonly publicKey: string
  readonly extensions: readonly object[]
}

function signed(
  { name, publicKey, extensions, notBefore, notAfter }: Unsigned,
  issuer: { readonly name: string; readonly key: string },
): string {
  const now = Date.now()
  const certificate = forge.pki.createCertificate()
  certificate.publicKey = forge.pki.publicKeyFromPem(publicKey)
  // The first byte is below 0x80, so that the serial number is positive.
  certificate.serialNumber = `4f${randomBytes(15).toString('hex')}`
  certificate.validity.notBefore = notBefore ?? new Date(now - 730 * DAY_MS)
  certificate.validity.notAfter = notAfter ?? new Date(now + 3_650 * DAY_MS)
  certificate.setSubject([{ name: 'commonName', value: name }])
  certificate.setIssuer([{ name: 'commonName', value: issuer.name }])
  certificate.setExtensions([...extensions])
  certificate.sign(forge.pki.privateKeyFromPem(issuer.key), forge.md.sha256.create())
  return forge.pki.certificateToPem(certificate)
}

function alternativeName(host: string): object {
  return isIP(host) > 0 ? { type: 7, ip: host } : { type: 2, value: host }
}
