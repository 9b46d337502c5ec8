import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { fileErrorReason } from './secret-files.ts'

/** What a file holds, or what is wrong with it: a clause that follows its name, such as «is no private key in PEM». */
export type ReadPem<Content> = { readonly content: Content } | { readonly fault: string }

/** Certificates, and the text that they stand in. */
export interface Certificates {
  readonly pem: string
  /** In the order of the text; at least one. */
  readonly all: readonly [X509Certificate, ...X509Certificate[]]
}

/** A private key, and the text that it stands in. */
export interface PrivateKey {
  readonly pem: string
  readonly key: KeyObject
}

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g

/** Reads a file of certificates, whatever stands between them. */
export function readCertificates(path: string): ReadPem<Certificates> {
  return readPem(path, certificatesIn)
}

/** Reads a file with a private key that no passphrase protects. */
export function readPrivateKey(path: string): ReadPem<PrivateKey> {
  return readPem(path, privateKeyIn)
}

/** The certificates in a text, whatever stands between them. */
export function certificatesIn(pem: string): ReadPem<Certificates> {
  return faultyUnless('is no certificate in PEM', () => {
    const [first, ...others] = [...pem.matchAll(CERTIFICATE)].map(([text]) => new X509Certificate(text))
    return first && { pem, all: [first, ...others] }
  })
}

/**
 * The private key in a text.
 * @param passphrase that protects it, where one does
 */
export function privateKeyIn(pem: string, passphrase?: string): ReadPem<PrivateKey> {
  const fault =
    passphrase === undefined
      ? 'is no private key in PEM without a passphrase'
      : 'is no private key in PEM that its passphrase opens'
  return faultyUnless(fault, () => {
    const key = createPrivateKey({ key: pem, ...(passphrase !== undefined && { passphrase }) })
    return { pem: String(key.export({ type: 'pkcs8', format: 'pem' })), key }
  })
}

function readPem<Content>(path: string, read: (pem: string) => ReadPem<Content>): ReadPem<Content> {
  let pem: string
  try {
    pem = readFileSync(path, 'utf8')
  } catch (error) {
    return { fault: `cannot be read: ${fileErrorReason(error)}` }
  }
  return read(pem)
}

function faultyUnless<Content>(fault: string, contentOf: () => Content | undefined): ReadPem<Content> {
  try {
    const content = contentOf()
    return content === undefined ? { fault } : { content }
  } catch {
    // What OpenSSL says of it helps nobody, and may be of what it read.
    return { fault }
  }
}

/** The instants from which and until which a certificate is good, epoch milliseconds. */
export function validityOf({ validFromDate, validToDate }: X509Certificate): { from: number; to: number } {
  return { from: validFromDate.getTime(), to: validToDate.getTime() }
}

/**
 * Why a certificate is not good now: a clause, as {@link ReadPem} has it; `undefined` where it is.
 * @param nowMs by the clock that TLS goes by
 */
export function validityFault(certificate: X509Certificate, nowMs = Date.now()): string | undefined {
  const { from, to } = validityOf(certificate)
  if (nowMs >= to) return `has expired on ${dayOf(to)}`
  return nowMs < from ? `is not valid before ${dayOf(from)}` : undefined
}

/** The day of an instant, in UTC: `2027-01-31`. */
export function dayOf(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 10)
}
