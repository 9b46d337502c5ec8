import { administer } from './database.ts'

/** Moves everything that happened so far back in time, what is append-only too. */
export function aged(databaseUrl: string, days: number): Promise<void> {
  const back = (...columns: string[]) =>
    columns.map((column) => `${column} = ${column} - interval '${days} days'`).join(', ')
  return administer(
    databaseUrl,
    `SET session_replication_role = replica;
     UPDATE operation SET ${back('created_at', 'updated_at')};
     UPDATE move SET ${back('at')};
     UPDATE notification SET ${back('created_at', 'fanned_out_at')};
     UPDATE delivery SET ${back('created_at', 'finished_at')};
     UPDATE delivery_attempt SET ${back('started_at', 'ended_at')};
     UPDATE inbox SET ${back('received_at')};
     UPDATE inbox_event SET ${back('processed_at')}`,
  )
}
