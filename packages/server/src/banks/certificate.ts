/** Whose certificates count when a bank is called, in the order in which they are told. */
export const CERTIFICATE_OWNERS = ['bank', 'client', 'authority'] as const

/** The bank's own; ours, which it wants to see; that of an authority which alone is trusted for it. */
export type CertificateOwner = (typeof CERTIFICATE_OWNERS)[number]

/** Until when a certificate is good. */
export interface BankCertificate {
  readonly of: CertificateOwner
  /** Epoch milliseconds. */
  readonly endsAt: number
}

const DAY_MS = 24 * 60 * 60 * 1_000

/** Renewing one takes a bank weeks. */
const NOTICE_MS = 30 * DAY_MS
const URGENT_MS = 7 * DAY_MS

/** Whether somebody has to renew a certificate, and how soon. @source rules#partner.12 */
export function urgencyOf({ endsAt }: BankCertificate, nowMs: number): 'none' | 'notice' | 'urgent' {
  if (endsAt - nowMs > NOTICE_MS) return 'none'
  return endsAt - nowMs > URGENT_MS ? 'notice' : 'urgent'
}

/** How many whole days a certificate is good for; below 0 where it has expired. */
export function daysLeftOf({ endsAt }: BankCertificate, nowMs: number): number {
  return Math.floor((endsAt - nowMs) / DAY_MS)
}

const NAMES: Readonly<Record<CertificateOwner, string>> = {
  bank: 'the bank’s certificate',
  client: 'our certificate for the bank',
  authority: 'the certificate of the last authority that is trusted for the bank',
}

const ADVICE: Readonly<Record<CertificateOwner, string>> = {
  bank: 'the bank has to renew it',
  client: 'put a new one in its place, with its key, and restart',
  authority: 'add the one that the bank will use next, and restart',
}

/** What somebody has to do, as a whole sentence: «the bank’s certificate expires soon: the bank has to renew it». */
export function renewalOf(certificate: BankCertificate, nowMs: number): string {
  const { of, endsAt } = certificate
  return `${NAMES[of]} ${endsAt > nowMs ? 'expires soon' : 'has expired'}: ${ADVICE[of]}`
}
