import forge from 'node-forge'
import { signedPair } from '../../support/certificates.ts'
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
  const at = (days: number) => new Date(wallNow() + days * DAY_MS)
  const pair = signedPair({ name: 'client', notBefore: at(Math.min(0, daysLeft) - 10), notAfter: at(daysLeft) })
  return {
    ...pair,
    pkcs12: (passphrase, algorithm = 'aes256') => {
      const [key, certificate] = [forge.pki.privateKeyFromPem(pair.key), forge.pki.certificateFromPem(pair.cert)]
      const sealed = forge.pkcs12.toPkcs12Asn1(key, [certificate], passphrase, { algorithm, count: 1 })
      return Buffer.from(forge.asn1.toDer(sealed).getBytes(), 'binary')
    },
  }
}
