import { generateKeyPairSync } from 'node:crypto'
import forge from 'node-forge'
import { wallNow } from '../../support/wall-clock.ts'

/** A certificate as a bank hands it out, of every form. */
export interface HandedOut {
  readonly cert: string
  readonly key: string
  /** The same pair as PKCS#12, sealed as asked. */
  pkcs12(passphrase: string, sealing?: 'aes256' | '3des'): Buffer
}

const DAY_MS = 86_400_000

/** Makes one, signed by itself, good until so many days from now. */
export function handedOut(daysLeft: number): HandedOut {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 })
  const key = String(privateKey.export({ type: 'pkcs8', format: 'pem' }))
  const forgeKey = forge.pki.privateKeyFromPem(key) as forge.pki.rsa.PrivateKey
  const certificate = forge.pki.createCertificate()
  certificate.publicKey = forge.pki.setRsaPublicKey(forgeKey.n, forgeKey.e)
  certificate.serialNumber = '01'
  certificate.validity.notBefore = new Date(wallNow() + Math.min(0, daysLeft) * DAY_MS - 10 * DAY_MS)
  certificate.validity.notAfter = new Date(wallNow() + daysLeft * DAY_MS)
  const name = [{ name: 'commonName', value: 'client' }]
  certificate.setSubject(name)
  certificate.setIssuer(name)
  certificate.sign(forgeKey, forge.md.sha256.create())
  return {
    key,
    cert: forge.pki.certificateToPem(certificate),
    pkcs12: (passphrase, algorithm = 'aes256') => {
      const sealed = forge.pkcs12.toPkcs12Asn1(forgeKey, [certificate], passphrase, { algorithm })
      return Buffer.from(forge.asn1.toDer(sealed).getBytes(), 'binary')
    },
  }
}
