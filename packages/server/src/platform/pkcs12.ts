import { createPrivateKey, X509Certificate } from 'node:crypto'
import forge from 'node-forge'
import type { ReadPem } from './pem-files.ts'

/** A certificate with its key, in PEM: the certificate of the key first, then those between it and its authority. */
export interface Pkcs12 {
  readonly certificates: string
  readonly key: string
}

/**
 * Opens PKCS#12, in which banks hand out certificates, also where it is sealed in the old way, which OpenSSL 3 calls
 * unsupported.
 * @param passphrase empty where there is none
 * @source rules#api-pix.10
 */
export function readPkcs12(bytes: Buffer, passphrase: string): ReadPem<Pkcs12> {
  let opened: forge.pkcs12.Pkcs12Pfx
  try {
    opened = forge.pkcs12.pkcs12FromAsn1(forge.asn1.fromDer(bytes.toString('binary')), passphrase)
  } catch (error) {
    // Only of a wrong passphrase the library says so.
    return { fault: /MAC|password/i.test(String(error)) ? 'does not open with its passphrase' : 'is no PKCS#12' }
  }
  const [key] = [...bagsOf(opened, 'pkcs8ShroudedKeyBag'), ...bagsOf(opened, 'keyBag')].map(keyOf)
  if (key === undefined) return { fault: 'has no private key' }
  const all = bagsOf(opened, 'certBag').map(certificateOf)
  const own = all.find((pem) => new X509Certificate(pem).checkPrivateKey(createPrivateKey(key)))
  if (own === undefined) return { fault: 'has no certificate of its private key' }
  return { content: { certificates: [own, ...all.filter((pem) => pem !== own)].join(''), key } }
}

function bagsOf(opened: forge.pkcs12.Pkcs12Pfx, type: string): readonly forge.pkcs12.Bag[] {
  const bagType = forge.pki.oids[type] ?? ''
  return opened.getBags({ bagType })[bagType] ?? []
}

/** The library reads certificates and keys of RSA alone; of others it keeps the bytes. */
function certificateOf({ cert, asn1 }: forge.pkcs12.Bag): string {
  return pem('CERTIFICATE', cert ? forge.pki.certificateToAsn1(cert) : asn1)
}

function keyOf({ key, asn1 }: forge.pkcs12.Bag): string {
  return pem('PRIVATE KEY', key ? forge.pki.wrapRsaPrivateKey(forge.pki.privateKeyToAsn1(key)) : asn1)
}

function pem(type: string, asn1: forge.asn1.Asn1): string {
  return forge.pem.encode({ type, body: forge.asn1.toDer(asn1).getBytes() })
}
