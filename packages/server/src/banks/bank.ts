import type { Finding } from '../platform/finding.ts'
import type { BankCertificate } from './certificate.ts'
import type { Inbound } from './inbound.ts'
import type { Partner } from './port.ts'

/** What an examination does besides. */
export interface ExaminationOptions {
  /** The bank is told where to call. */
  readonly registers: boolean
  /** Makes the id of a charge that is made and withdrawn in the bank's sandbox; absent: none is made. */
  readonly newId?: () => string
}

/** A bank that was connected: what it is asked, and what it tells by itself. */
export interface Bank extends Partner {
  readonly inbound: Inbound
  /** What its clock said in its last answer, epoch milliseconds; absent or `undefined` where it does not tell. */
  latestDate?(): number | undefined
  /** Until when the certificates are good that count when it is called; absent where there are none. */
  certificates?(): readonly BankCertificate[]
  /** Goes the way to the bank step by step, for whoever sets it up; absent where one question tells it all. */
  examine?(options: ExaminationOptions): Promise<readonly Finding[]>
  /** Waits for the calls under way, then lets go of the connections. */
  close(): Promise<void>
}
