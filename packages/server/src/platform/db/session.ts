/**
 * PostgreSQL's setting of that name. `force_generic_plan`: a statement is not planned for each execution, whatever its
 * parameters; right where all of them find their rows by key. Planning the engine's statement anew each time was a third of
 * what a payment cost PostgreSQL at one caller.
 */
export type PlanCacheMode = 'auto' | 'force_generic_plan'

/** Sessions end by themselves when a node is paused or half-open, and never wait long. @source failure-modes#DB-9 */
export const SESSION_SETTINGS: Readonly<Record<string, string>> = {
  lock_timeout: '2000',
  idle_in_transaction_session_timeout: '10000',
  // That nobody waits for the standby any more is told by a warning, whatever the database or its role is set to.
  client_min_messages: 'warning',
  client_connection_check_interval: '1000',
  default_transaction_isolation: 'read committed',
  TimeZone: 'UTC',
  // What a plan is thought to cost, on a table that was never analysed, is too rough to compile statements by.
  jit: 'off',
}

/** What a connection asks for when it is made. @param role unset for migrations, which work as the owner */
export function sessionOptions(
  role: string | undefined,
  statementTimeoutMs: number,
  planCacheMode: PlanCacheMode = 'auto',
): string {
  const plans = { plan_cache_mode: planCacheMode }
  const ours = { ...SESSION_SETTINGS, ...plans, statement_timeout: String(statementTimeoutMs), role }
  const settings = role === undefined ? plans : ours
  return Object.entries(settings)
    .map(([name, value]) => `-c ${name}=${String(value).replaceAll(' ', '\\ ')}`)
    .join(' ')
}
