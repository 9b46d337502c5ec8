import type { BankCertificate } from './certificate.ts'
import type { Inbound } from './inbound.ts'
import type { Partner } from './port.ts'

/** A bank that was connected: what it is asked, and what it tells by itself. */
export interface Bank extends Partner {
  readonly inbound: Inbound
  /** What its clock said in its last answer, epoch milliseconds; absent or `undefined` where it does not tell. */
  latestDate?(): number | undefined
  /** Until when the certificates are good that count when it is called; absent where there are none. */
  certificates?(): readonly BankCertificate[]
  /** Waits for the calls under way, then lets go of the connections. */
  close(): Promise<void>
}
