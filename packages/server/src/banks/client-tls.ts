import { type Certificates, type PrivateKey, validityFault, validityOf } from '../platform/pem-files.ts'
import type { BankCertificate } from './certificate.ts'

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
  /** Each begins with the name of its variable; nothing of what was read is repeated. */
  readonly faults: readonly string[]
}

/** What was read for TLS; absent: not given, or not readable. */
export interface TlsParts {
  readonly certificate?: Certificates | undefined
  readonly key?: PrivateKey | undefined
  readonly authorities?: Certificates | undefined
}

/** The variables that it was read from. */
export type TlsNames = { readonly [Part in keyof TlsParts]-?: string }

/** Judges what was read for TLS: whether the pair is one, and all of it good today. @source rules#partner.11 */
export function judgeTls(names: TlsNames, { certificate, key, authorities }: TlsParts): ReadPartnerTls {
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
    faults: [...pairFaults(names, certificate, key), ...authorityFaults(names, authorities)],
  }
}

function pairFaults(
  names: TlsNames,
  certificate: Certificates | undefined,
  key: PrivateKey | undefined,
): readonly string[] {
  const fault = certificate && validityFault(certificate.all[0])
  const isPair = !certificate || !key || certificate.all[0].checkPrivateKey(key.key)
  return [
    ...(fault === undefined ? [] : [`${names.certificate}: the certificate ${fault}`]),
    ...(isPair ? [] : [`${names.key} is not the key of the first certificate in ${names.certificate}`]),
  ]
}

/** One that has expired may stand beside the one that follows it. */
function authorityFaults(names: TlsNames, authorities: Certificates | undefined): readonly string[] {
  const faults = authorities?.all.map((certificate) => validityFault(certificate)) ?? []
  const [first] = faults
  return first === undefined || faults.includes(undefined) ? [] : [`${names.authorities}: the certificate ${first}`]
}

/** Of those between ours and its authority none may end before it. */
function endOf({ all }: Certificates): number {
  return Math.min(...all.map((certificate) => validityOf(certificate).to))
}

function lastEndOf({ all }: Certificates): number {
  return Math.max(...all.map((certificate) => validityOf(certificate).to))
}
