import { administer } from './database.ts'

/** Makes so many due deliveries of an endpoint, older than all others, in one statement. */
export function backlogOf(databaseUrl: string, endpointId: string, count: number): Promise<void> {
  return administer(
    databaseUrl,
    `WITH made AS (
       INSERT INTO notification (id, operation_id, event_type, status, reference, body, created_at, fanned_out_at)
       SELECT gen_random_uuid(), gen_random_uuid(), 'pix_cash_in', 'PAID', '', '{}', '2026-11-20', '2026-11-20'
         FROM generate_series(1, ${count})
       RETURNING id)
     INSERT INTO delivery (id, notification_id, endpoint_id, created_at, due_at)
     SELECT gen_random_uuid(), id, '${endpointId}', '2026-11-20', '2026-11-20' FROM made;
     ANALYZE delivery, notification`,
  )
}
