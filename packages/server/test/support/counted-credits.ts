import { administer } from './database.ts'
import type { SteppedClock } from './stepped-clock.ts'

/**
 * Counts a credit as a process of the version before does, which counts it before it books it.
 * @param settled whether it counts no longer
 */
export async function counted(
  { url, clock }: { readonly url: string; readonly clock: Pick<SteppedClock, 'now'> },
  operationId: string,
  endToEndId: string,
  valueCents: bigint,
  settled = false,
): Promise<void> {
  const now = `to_timestamp(${clock.now()} / 1000.0)`
  await administer(
    url,
    `INSERT INTO unverified_credit (operation_id, end_to_end_id, value_cents, admitted_at, settled_at)
     VALUES ('${operationId}', '${endToEndId}', ${valueCents}, ${now}, ${settled ? now : 'NULL'});
     UPDATE unverified_total SET cents = cents + ${settled ? 0n : valueCents}`,
  )
}
