import { type ReadPem, readCertificates, readPrivateKey } from '../../platform/pem-files.ts'
import { judgeTls, type ReadPartnerTls } from '../client-tls.ts'

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
  const names = { certificate: CERTIFICATE, key: KEY, authorities: AUTHORITIES }
  const certificate = read(CERTIFICATE, readCertificates)
  const key = read(KEY, readPrivateKey)
  const judged = judgeTls(names, { certificate, key, authorities: read(AUTHORITIES, readCertificates) })
  return { ...judged, faults: [...faults, ...halfOfAPair(files), ...judged.faults] }
}

function halfOfAPair(files: PartnerTlsFiles): readonly string[] {
  if (files[CERTIFICATE] && !files[KEY]) return [`${CERTIFICATE} needs ${KEY}`]
  return files[KEY] && !files[CERTIFICATE] ? [`${KEY} needs ${CERTIFICATE}`] : []
}
