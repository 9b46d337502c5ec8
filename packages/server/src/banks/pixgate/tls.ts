import {
  type Certificates,
  type PrivateKey,
  type ReadPem,
  readCertificates,
  readPrivateKey,
  validityFault,
  validityOf,
} from '../../platform/pem-files.ts'
import type { BankCertificate } from '../certificate.ts'

/** What TLS to the bank is told besides: in PEM, and absent where Node.js's own counts. */
export interface PartnerTls {
  /** Ours, with those between it and its authority. */
  readonly cert?: string
  readonly key?: string
  /** The only authorities that are trusted for the bank. */
  readonly ca?: string
}

/** The same, with until when it is good. */
export interface ReadPartnerTls {
  readonly tls: PartnerTls
  readonly certificates: readonly BankCertificate[]
  /** Each begins with the name of its variable; nothing of a file is repeated. */
  readonly faults: readonly string[]
}

const CERTIFICATE = 'PIXGATE_PARTNER_CLIENT_CERTIFICATE_FILE'
const KEY = 'PIXGATE_PARTNER_CLIENT_KEY_FILE'
const AUTHORITIES = 'PIXGATE_PARTNER_CA_BUNDLE_FILE'

/** The paths of the files, by their variables; what is not named is not used. */
export type PartnerTlsFiles = {
  readonly [Name in typeof CERTIFICATE | typeof KEY | typeof AUTHORITIES]?: string | undefined
}

/**
 * Reads the files.
 * @source rules#partner.11
 */
export function readPartnerTls(files: PartnerTlsFiles): ReadPartnerTls {
  const faults: string[] = []
  function read<Content>(
    variable: keyof PartnerTlsFiles,
    readPem: (path: string) => ReadPem<Content>,
  ): Content | undefined {
    const path = files[variable]
    if (!path) return undefined
    const pem = readPem(path)
    if ('content' in pem) return pem.content
    faults.push(`${variable} names ${path}, which ${pem.fault}`)
    return undefined
  }
  const certificate = read(CERTIFICATE, readCertificates)
  const key = read(KEY, readPrivateKey)
  const authorities = read(AUTHORITIES, readCertificates)
  faults.push(...pairFaults(files, certificate, key), ...authorityFaults(authorities))
  return {
    tls: {
      ...(certificate && { cert: certificate.pem }),
      ...(key && { key: key.pem }),
      ...(authorities && { ca: authorities.pem }),
    },
    certificates: [
      ...(certificate ? [{ of: 'client', endsAt: endOf(certificate) } as const] : []),
      ...(authorities ? [{ of: 'authority', endsAt: lastEndOf(authorities) } as const] : []),
    ],
    faults,
  }
}

function pairFaults(
  files: PartnerTlsFiles,
  certificate: Certificates | undefined,
  key: PrivateKey | undefined,
): string[] {
  const faults: string[] = []
  for (const [variable, other] of [
    [CERTIFICATE, KEY],
    [KEY, CERTIFICATE],
  ] as const) {
    if (files[variable] && !files[other]) faults.push(`${variable} needs ${other}`)
  }
  const fault = certificate && validityFault(certificate.all[0])
  if (fault !== undefined) faults.push(`${CERTIFICATE}: the certificate ${fault}`)
  if (certificate && key && !certificate.all[0].checkPrivateKey(key.key)) {
    faults.push(`${KEY} is not the key of the first certificate in ${CERTIFICATE}`)
  }
  return faults
}

/** One that has expired may stand beside the one that follows it. */
function authorityFaults(authorities: Certificates | undefined): string[] {
  const faults = authorities?.all.map((certificate) => validityFault(certificate)) ?? []
  const [first] = faults
  return first === undefined || faults.includes(undefined) ? [] : [`${AUTHORITIES}: the certificate ${first}`]
}

/** Of those between ours and its authority none may end before it. */
function endOf({ all }: Certificates): number {
  return Math.min(...all.map((certificate) => validityOf(certificate).to))
}

function lastEndOf({ all }: Certificates): number {
  return Math.max(...all.map((certificate) => validityOf(certificate).to))
}
