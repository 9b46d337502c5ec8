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
