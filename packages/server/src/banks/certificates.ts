import { readFileSync } from 'node:fs'
import type { Clock } from '../platform/clock.ts'
import type { Logger } from '../platform/log.ts'
import {
  type Certificates,
  certificatesIn,
  fileErrorReason,
  type PrivateKey,
  privateKeyIn,
  type ReadPem,
  readCertificates,
  readPkcs12,
  readPrivateKey,
  validityFault,
  validityOf,
} from '../platform/secrets.ts'

/** Certificates of the connection to a bank: read and checked at start, watched until they expire. */

export const CERTIFICATE_OWNERS = ['bank', 'client', 'authority'] as const

/** The bank; we; an authority that is exclusively trusted for the bank. */
export type CertificateOwner = (typeof CERTIFICATE_OWNERS)[number]

export interface BankCertificate {
  readonly of: CertificateOwner
  /** Epoch milliseconds. */
  readonly endsAt: number
}

/** TLS options in PEM; absent ones default to Node.js. */
export interface PartnerTls {
  readonly cert?: string
  readonly key?: string
  /** Exclusively trusted authorities. */
  readonly ca?: string
}

export interface ReadPartnerTls {
  readonly tls: PartnerTls
  readonly certificates: readonly BankCertificate[]
  /** Each starts with its variable and repeats no content. */
  readonly faults: readonly string[]
}

type Given<Names extends string> = { readonly [Name in Names]?: string | undefined }

const PIXGATE = {
  certificate: 'PIXGATE_PARTNER_CLIENT_CERTIFICATE_FILE',
  key: 'PIXGATE_PARTNER_CLIENT_KEY_FILE',
  authorities: 'PIXGATE_PARTNER_CA_BUNDLE_FILE',
} as const

/** Reads the files of the `pixgate` connector: a PEM pair. @source rules#partner.11 */
export function readPartnerTls(files: Given<(typeof PIXGATE)[keyof typeof PIXGATE]>): ReadPartnerTls {
  const faults: string[] = []
  function read<Content>(name: keyof typeof files, readPem: (path: string) => ReadPem<Content>): Content | undefined {
    const path = files[name]
    return path ? contentOf(readPem(path), `${name} names ${path}, which`, faults) : undefined
  }
  const judged = judgeTls(PIXGATE, {
    certificate: read(PIXGATE.certificate, readCertificates),
    key: read(PIXGATE.key, readPrivateKey),
    authorities: read(PIXGATE.authorities, readCertificates),
  })
  const { [PIXGATE.certificate]: certificate, [PIXGATE.key]: key } = files
  if (certificate && !key) faults.push(`${PIXGATE.certificate} needs ${PIXGATE.key}`)
  if (key && !certificate) faults.push(`${PIXGATE.key} needs ${PIXGATE.certificate}`)
  return { ...judged, faults: [...faults, ...judged.faults] }
}

const STANDARD = {
  certificate: 'PIXGATE_BANK_CERTIFICATE',
  key: 'PIXGATE_BANK_CERTIFICATE_KEY',
  passphrase: 'PIXGATE_BANK_CERTIFICATE_PASSPHRASE',
  authorities: 'PIXGATE_BANK_CA',
} as const

/**
 * Reads the certificate for a bank of API Pix: PKCS#12 or a PEM pair, as a file path, Base64 or PEM.
 * @source rules#api-pix.10
 */
export function readBankTls(values: Given<(typeof STANDARD)[keyof typeof STANDARD]>): ReadPartnerTls {
  const faults: string[] = []
  function read<Content>(name: keyof typeof values, readBytes: (bytes: Buffer) => ReadPem<Content>) {
    const given = values[name]
    if (!given) return undefined
    const bytes = bytesOf(given)
    return contentOf('fault' in bytes ? bytes : readBytes(bytes.content), name, faults)
  }
  const { [STANDARD.key]: givenKey, [STANDARD.passphrase]: passphrase } = values
  const pair = read(STANDARD.certificate, (bytes) => pairOf(bytes, passphrase))
  const key = givenKey ? read(STANDARD.key, (bytes) => privateKeyIn(bytes.toString(), passphrase)) : pair?.key
  const authorities = read(STANDARD.authorities, (bytes) => certificatesIn(bytes.toString()))
  if (pair && !key && !givenKey) faults.push(`${STANDARD.certificate} in PEM needs ${STANDARD.key}`)
  const names = { ...STANDARD, key: givenKey ? STANDARD.key : STANDARD.certificate }
  const judged = judgeTls(names, { certificate: pair?.certificate, key, authorities })
  return { ...judged, faults: [...faults, ...judged.faults] }
}

function contentOf<Content>(read: ReadPem<Content>, subject: string, faults: string[]): Content | undefined {
  if ('content' in read) return read.content
  faults.push(`${subject} ${read.fault}`)
  return undefined
}

const BASE64 = /^[A-Za-z0-9+/]{256,}={0,2}$/

function bytesOf(given: string): ReadPem<Buffer> {
  if (given.includes('-----BEGIN')) return { content: Buffer.from(given) }
  if (BASE64.test(given.replaceAll(/\s/g, ''))) return { content: Buffer.from(given, 'base64') }
  try {
    return { content: readFileSync(given) }
  } catch (error) {
    return { fault: `names a file that cannot be read: ${fileErrorReason(error)}` }
  }
}

interface Pair {
  readonly certificate: Certificates
  readonly key?: PrivateKey
}

/** Some banks put the key into the same PEM file. */
function pairOf(bytes: Buffer, passphrase = ''): ReadPem<Pair> {
  if (bytes.includes('-----BEGIN')) {
    const pem = bytes.toString()
    const key = /PRIVATE KEY-----/.test(pem) ? pem : undefined
    return pairIn(pem, key, passphrase === '' ? undefined : passphrase)
  }
  const opened = readPkcs12(bytes, passphrase)
  return 'fault' in opened ? opened : pairIn(opened.content.certificates, opened.content.key)
}

function pairIn(certificatePem: string, keyPem: string | undefined, passphrase?: string): ReadPem<Pair> {
  const certificate = certificatesIn(certificatePem)
  if ('fault' in certificate) return certificate
  if (keyPem === undefined) return { content: { certificate: certificate.content } }
  const key = privateKeyIn(keyPem, passphrase)
  return 'fault' in key ? key : { content: { certificate: certificate.content, key: key.content } }
}

interface TlsParts {
  readonly certificate: Certificates | undefined
  readonly key: PrivateKey | undefined
  readonly authorities: Certificates | undefined
}

/**
 * Checks that certificate and key belong together, and that all certificates are valid today.
 * @param names of the variables
 * @source rules#partner.11
 */
function judgeTls(names: Record<keyof TlsParts, string>, { certificate, key, authorities }: TlsParts): ReadPartnerTls {
  const fault = certificate && validityFault(certificate.all[0])
  const isPair = !certificate || !key || certificate.all[0].checkPrivateKey(key.key)
  const expired = authorities && authoritiesFault(authorities)
  return {
    tls: {
      ...(certificate && { cert: certificate.pem }),
      ...(key && { key: key.pem }),
      ...(authorities && { ca: authorities.pem }),
    },
    certificates: [
      // An intermediate certificate may expire before ours. Of several authorities, one is enough.
      ...(certificate ? [{ of: 'client', endsAt: Math.min(...endsOf(certificate)) } as const] : []),
      ...(authorities ? [{ of: 'authority', endsAt: Math.max(...endsOf(authorities)) } as const] : []),
    ],
    faults: [
      ...(fault === undefined ? [] : [`${names.certificate}: the certificate ${fault}`]),
      ...(isPair ? [] : [`${names.key} is not the key of the first certificate in ${names.certificate}`]),
      ...(expired === undefined ? [] : [`${names.authorities}: the certificate ${expired}`]),
    ],
  }
}

/** An expired authority may be listed beside its successor. */
function authoritiesFault({ all }: Certificates): string | undefined {
  const faults = all.map((certificate) => validityFault(certificate))
  return faults.includes(undefined) ? undefined : faults[0]
}

function endsOf({ all }: Certificates): number[] {
  return all.map((certificate) => validityOf(certificate).to)
}

const DAY_MS = 24 * 60 * 60 * 1_000

/** Renewal can take a bank weeks. */
const NOTICE_MS = 30 * DAY_MS
const URGENT_MS = 7 * DAY_MS

/** @source rules#partner.12 */
export function urgencyOf({ endsAt }: BankCertificate, nowMs: number): 'none' | 'notice' | 'urgent' {
  if (endsAt - nowMs > NOTICE_MS) return 'none'
  return endsAt - nowMs > URGENT_MS ? 'notice' : 'urgent'
}

/** Whole days until a certificate expires; negative afterwards. */
export function daysLeftOf({ endsAt }: BankCertificate, nowMs: number): number {
  return Math.floor((endsAt - nowMs) / DAY_MS)
}

const RENEWALS: Readonly<Record<CertificateOwner, readonly [name: string, advice: string]>> = {
  bank: ['the bank’s certificate', 'the bank has to renew it'],
  client: ['our certificate for the bank', 'put a new one in its place, with its key, and restart'],
  authority: [
    'the certificate of the last authority that is trusted for the bank',
    'add the one that the bank will use next, and restart',
  ],
}

/** Advice as a sentence: «the bank’s certificate expires soon: the bank has to renew it». */
export function renewalOf({ of, endsAt }: BankCertificate, nowMs: number): string {
  const [name, advice] = RENEWALS[of]
  return `${name} ${endsAt > nowMs ? 'expires soon' : 'has expired'}: ${advice}`
}

export interface CertificateWatchOptions {
  readonly certificates: () => readonly BankCertificate[]
  readonly clock: Pick<Clock, 'now'>
  readonly logger: Logger
}

/** Logs certificates due for renewal: once a day, and when they become urgent. @source rules#partner.12 */
export function createCertificateWatch({ certificates, clock, logger }: CertificateWatchOptions): () => void {
  const logged = new Map<CertificateOwner, { readonly at: number; readonly urgency: string }>()
  return () => {
    const now = clock.now()
    for (const certificate of certificates()) {
      const { of, endsAt } = certificate
      const urgency = urgencyOf(certificate, now)
      const last = logged.get(of)
      if (urgency === 'none') logged.delete(of)
      if (urgency === 'none' || (last?.urgency === urgency && now - last.at < DAY_MS)) continue
      logged.set(of, { at: now, urgency })
      const fields = {
        event: 'bank.certificate_expires',
        certificate: of,
        expiresAt: new Date(endsAt).toISOString(),
        daysLeft: daysLeftOf(certificate, now),
      }
      logger[urgency === 'urgent' ? 'error' : 'warn'](fields, renewalOf(certificate, now))
    }
  }
}
