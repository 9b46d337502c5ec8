/**
 * A server that waits for its bank for a short time: so that a test of a missing answer ends soon, yet longer than a
 * busy machine takes for an answer that does come.
 */
export const IMPATIENT = { PIXGATE_PARTNER_TIMEOUT_MS: '600' }

/** How late the simulated bank answers when that server is to miss it, in milliseconds. */
export const TOO_LATE_MS = 1_000
