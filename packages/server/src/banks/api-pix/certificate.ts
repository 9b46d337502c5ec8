import { readFileSync } from 'node:fs'
import {
  type Certificates,
  certificatesIn,
  type PrivateKey,
  privateKeyIn,
  type ReadPem,
} from '../../platform/pem-files.ts'
import { readPkcs12 } from '../../platform/pkcs12.ts'
import { fileErrorReason } from '../../platform/secret-files.ts'
import { judgeTls, type ReadPartnerTls } from '../client-tls.ts'

/** The certificate with which a bank lets us in: PKCS#12, or a pair in PEM; the path of a file, or what is in it. */

const CERTIFICATE = 'PIXGATE_BANK_CERTIFICATE'
const KEY = 'PIXGATE_BANK_CERTIFICATE_KEY'
const PASSPHRASE = 'PIXGATE_BANK_CERTIFICATE_PASSPHRASE'
const AUTHORITIES = 'PIXGATE_BANK_CA'

/** What TLS needs, by its variables. */
export type BankTlsValues = {
  readonly [Name in typeof CERTIFICATE | typeof KEY | typeof PASSPHRASE | typeof AUTHORITIES]?: string | undefined
}

/**
 * Reads and judges it.
 * @source rules#api-pix.10
 */
export function readBankTls(values: BankTlsValues): ReadPartnerTls {
  const reader = createReader(values)
  const pair = reader.read(CERTIFICATE, (bytes) => pairOf(bytes, values))
  const key = values[KEY] ? reader.read(KEY, (bytes) => privateKeyIn(bytes.toString(), values[PASSPHRASE])) : pair?.key
  const authorities = reader.read(AUTHORITIES, (bytes) => certificatesIn(bytes.toString()))
  const names = { certificate: CERTIFICATE, key: values[KEY] ? KEY : CERTIFICATE, authorities: AUTHORITIES }
  const judged = judgeTls(names, { certificate: pair?.certificate, key, authorities })
  const isHalf = pair !== undefined && key === undefined && !values[KEY]
  return {
    ...judged,
    faults: [...reader.faults, ...(isHalf ? [`${CERTIFICATE} in PEM needs ${KEY}`] : []), ...judged.faults],
  }
}

interface Pair {
  readonly certificate: Certificates
  readonly key?: PrivateKey
}

function pairOf(bytes: Buffer, { [PASSPHRASE]: passphrase = '' }: BankTlsValues): ReadPem<Pair> {
  if (bytes.includes('-----BEGIN')) return pairInPem(bytes.toString(), passphrase)
  const opened = readPkcs12(bytes, passphrase)
  if ('fault' in opened) return opened
  const certificate = certificatesIn(opened.content.certificates)
  if ('fault' in certificate) return certificate
  const key = privateKeyIn(opened.content.key)
  return 'fault' in key ? key : { content: { certificate: certificate.content, key: key.content } }
}

/** Some banks put the key into the same file. */
function pairInPem(pem: string, passphrase: string): ReadPem<Pair> {
  const certificate = certificatesIn(pem)
  if ('fault' in certificate) return certificate
  if (!/PRIVATE KEY-----/.test(pem)) return { content: { certificate: certificate.content } }
  const key = privateKeyIn(pem, passphrase === '' ? undefined : passphrase)
  return 'fault' in key ? key : { content: { certificate: certificate.content, key: key.content } }
}

function createReader(values: BankTlsValues) {
  const faults: string[] = []
  return {
    faults,
    read<Content>(variable: keyof BankTlsValues, read: (bytes: Buffer) => ReadPem<Content>): Content | undefined {
      const given = values[variable]
      if (!given) return undefined
      const bytes = bytesOf(given)
      const content = 'fault' in bytes ? bytes : read(bytes.content)
      if ('content' in content) return content.content
      faults.push(`${variable} ${content.fault}`)
      return undefined
    },
  }
}

const BASE64 = /^[A-Za-z0-9+/]{256,}={0,2}$/

/** PEM itself, Base64 of the file, or its path. */
function bytesOf(given: string): ReadPem<Buffer> {
  if (given.includes('-----BEGIN')) return { content: Buffer.from(given) }
  if (BASE64.test(given.replaceAll(/\s/g, ''))) return { content: Buffer.from(given, 'base64') }
  try {
    return { content: readFileSync(given) }
  } catch (error) {
    return { fault: `names a file that cannot be read: ${fileErrorReason(error)}` }
  }
}
