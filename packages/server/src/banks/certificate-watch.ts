import type { Clock } from '../platform/clock.ts'
import type { Logger } from '../platform/log.ts'
import { type BankCertificate, type CertificateOwner, daysLeftOf, renewalOf, urgencyOf } from './certificate.ts'

/** What is looked at, and who is told. */
export interface CertificateWatchOptions {
  readonly certificates: () => readonly BankCertificate[]
  readonly clock: Pick<Clock, 'now'>
  readonly logger: Logger
}

const DAY_MS = 24 * 60 * 60 * 1_000

/**
 * Makes the look at the certificates that count when the bank is called: a line a day for each that somebody has to renew, and
 * one when it becomes urgent.
 * @source rules#partner.12
 */
export function createCertificateWatch({ certificates, clock, logger }: CertificateWatchOptions): () => void {
  const reported = new Map<CertificateOwner, { readonly at: number; readonly urgency: string }>()
  return () => {
    const now = clock.now()
    for (const certificate of certificates()) {
      const { of, endsAt } = certificate
      const urgency = urgencyOf(certificate, now)
      const last = reported.get(of)
      const isReported = last?.urgency === urgency && now - last.at < DAY_MS
      if (urgency === 'none') reported.delete(of)
      if (urgency === 'none' || isReported) continue
      reported.set(of, { at: now, urgency })
      const fields = {
        certificate: of,
        expiresAt: new Date(endsAt).toISOString(),
        daysLeft: daysLeftOf(certificate, now),
      }
      logger[urgency === 'urgent' ? 'error' : 'warn'](fields, renewalOf(certificate, now))
    }
  }
}
