import type { BankLook } from './alerts/index.ts'
import { type Base, certificatesOf, type Modules } from './app.ts'
import { breakerStateOf } from './banks/breaker.ts'
import { createCertificateWatch, urgencyOf } from './banks/certificates.ts'
import { forgetPast } from './engine/engine.ts'
import { createClockWatch, createHealthStore, createOverdueWorkWatch } from './health/index.ts'
import { endLockHolders } from './platform/db/lock-holders.ts'
import { type StartWorker, startWorker, type Worker } from './platform/jobs/worker.ts'
import { createErasing } from './retention/index.ts'

/** The service's workers and periodic checks. */

const SECOND = 1_000
const MINUTE = 60 * SECOND

export type Workers = Map<string, Worker>

/** A worker: its name, how often it polls, and its step, which returns whether more may be due right away. */
type Row = readonly [name: string, idleMs: number, processNext: () => Promise<boolean>]

/** Workers of the business: one process or several may run them. */
export function startWorkers(base: Base, modules: Modules, workers: Workers): void {
  const { cashOuts, refunds, cashIns, inbox, statements, webhooks, verifier, auditKeeper, identityWatch, closes } =
    modules
  const { databases, config, logger, metrics } = base
  const { keptDays } = config
  const { alerts } = modules
  const start = starting(base)
  auditKeeper.begin()
  startAll(start, workers, [
    ['cash-out', SECOND, cashOuts.processNext],
    ['refund-in', SECOND, refunds.processNext],
    ['cash-in', SECOND, cashIns.processNext],
    ['partner-inbox', SECOND, inbox.processNext],
    ['statement', SECOND, statements.processNext],
    ['database-identity', SECOND, once(identityWatch.look)],
    ['daily-close', MINUTE, closes.processNext],
    ['audit', MINUTE, auditKeeper.processNext],
    ['retention', MINUTE, createErasing({ database: databases.work, logger, keptDays, observer: metrics.retention })],
    ...alerts.steps.map((step, index) => [`alerts-${index + 1}`, 10 * SECOND, step] as const),
    ['engine-past', 60 * MINUTE, once(() => forgetPast(databases.work))],
  ])
  webhooks.start(start)
  verifier.start()
}

/** Checks that each process makes for itself. @source rules#logs.5 */
export function startWatch(base: Base, modules: Modules, workers: Workers): void {
  const { databases, clock, databaseNow, logger } = base
  const lookAtWork = createOverdueWorkWatch({
    countOverdue: createHealthStore(databases.api).late,
    payoutBreaker: () => breakerStateOf(modules.partner.allowedSends()),
    logger,
  })
  const lookAtClock = createClockWatch({ clock, databaseNow, logger })
  const lookAtCertificates = createCertificateWatch({ certificates: certificatesOf(modules), clock, logger })
  const { alerts } = modules
  const look = async () => {
    lookAtCertificates()
    if (!alerts.isOff) await alerts.observe(lookAtBank(base, modules))
    await lookAtClock()
    await lookAtWork()
  }
  startAll(starting(base), workers, [
    ['watch', MINUTE, once(look)],
    ['log-ins', MINUTE, once(() => modules.logins.flush())],
    ['lock-holders', 10 * SECOND, once(() => endLockHolders(databases.work, logger))],
    // Uses that are not written yet are lost in a crash.
    ['last-used', 10 * SECOND, once(() => modules.access.writeLastUsed())],
  ])
}

/** State of the bank as this process knows it, without a call. */
function lookAtBank({ clock }: Base, modules: Modules): BankLook {
  const { partner } = modules
  const breakers = [partner.allowedSends(), partner.allowedCharges()].map(breakerStateOf)
  const now = clock.now()
  return {
    isBreakerOpen: breakers.some((state) => state !== 'closed'),
    isUnanswered: partner.standing().problem !== undefined,
    certificates: certificatesOf(modules)().map((one) => ({ ...one, urgency: urgencyOf(one, now) })),
  }
}

function startAll(start: StartWorker, workers: Workers, rows: readonly Row[]): void {
  for (const [name, idleMs, processNext] of rows) workers.set(name, start({ name, idleMs, processNext }))
}

function starting({ logger, metrics }: Base): StartWorker {
  return (worker) => startWorker({ ...worker, logger, onFailure: metrics.failuresOf(worker.name) })
}

/** A step after which nothing more is due. */
function once(work: () => Promise<unknown>): () => Promise<boolean> {
  return async () => {
    await work()
    return false
  }
}

export async function processNext(modules: Modules): Promise<void> {
  const { inbox, cashIns, cashOuts, refunds, statements } = modules
  await modules.access.writeLastUsed()
  await inbox.drained()
  await inbox.processNext()
  await cashIns.drained()
  await cashIns.processNext()
  await cashOuts.drained()
  await cashOuts.processNext()
  await refunds.processNext()
  while (await statements.processNext());
}
