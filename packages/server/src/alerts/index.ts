import { limits } from '@pixgate/spec'
import type { Clock } from '../platform/clock.ts'
import type { Database } from '../platform/db/database.ts'
import { createGuardedAgent, openGate, privateNetworkGate, type Resolve } from '../platform/http-client/agent.ts'
import type { AllowedNetwork } from '../platform/http-client/allowed-networks.ts'
import type { Logger } from '../platform/log.ts'
import { dayOf } from '../platform/sao-paulo.ts'
import { type ClaimedMessage, claimMessage, findAlerts, finishMessage, forgetAlerts, openObserved } from './alerts.ts'
import { type Channel, createEmail, createWebhook } from './channels.ts'
import type { AlertSettings } from './settings.ts'
import { textOf, type Wording } from './words.ts'

/** Alerts to people about what needs a person, by e-mail and to chat services. */

/** Longer than any attempt. */
const LEASE_MS = 60_000

const FORGET_EVERY_MS = 3_600_000

/** Looks, a minute apart, at which the bank had not answered before it counts as away. */
const UNANSWERED_LOOKS = 3

/** Must not throw. */
export interface AlertsObserver {
  onAttempt(channel: Channel['kind'], outcome: 'sent' | 'failed' | 'given_up'): void
}

export interface AlertsNeeds {
  readonly database: Database
  readonly clock: Clock
  readonly logger: Logger
  readonly settings: AlertSettings
  readonly consoleUrl: string | undefined
  readonly isProduction: boolean
  /** Those of webhooks' endpoints of an admin. */
  readonly allowPrivate: boolean
  readonly allowedNetworks: readonly AllowedNetwork[]
  /** Replaces DNS in tests. */
  readonly resolve?: Resolve
  /** Shorter in tests. */
  readonly timeoutMs?: number
  readonly observer: AlertsObserver
}

/** State of the bank in a process's memory. */
export interface BankLook {
  /** A circuit breaker of orders or charges is not closed. */
  readonly isBreakerOpen: boolean
  /** The last call was not answered, or refused as a whole. */
  readonly isUnanswered: boolean
  readonly certificates: readonly {
    readonly of: string
    readonly endsAt: number
    readonly urgency: 'none' | 'notice' | 'urgent'
  }[]
}

export function createAlertsModule(needs: AlertsNeeds) {
  const { settings, database, clock, consoleUrl, isProduction, timeoutMs = limits.alertTimeoutMs } = needs
  const { language, email, webhooks } = settings
  const gate = needs.allowPrivate ? openGate() : privateNetworkGate(needs.allowedNetworks, needs.resolve)
  const agent = createGuardedAgent(gate, limits.webhookConnectTimeoutMs)
  const closing = new AbortController()
  const mails = { isProduction, timeoutMs, closing: closing.signal }
  const channels: readonly Channel[] = [
    ...(email ? email.to.map((to) => createEmail({ ...email, ...mails, to })) : []),
    ...webhooks.map((webhook) => createWebhook(webhook, agent, timeoutMs)),
  ]
  const names = channels.map(({ name }) => name)
  const sender = { ...needs, wording: { language, consoleUrl } }
  let forgottenAt = Number.NEGATIVE_INFINITY
  const find = async () => {
    const now = clock.now()
    if (now - forgottenAt >= FORGET_EVERY_MS) {
      await forgetAlerts(database)
      forgottenAt = now
    }
    await findAlerts(database, names, now)
  }
  let finding: Promise<void> | undefined
  return {
    /** No channel is configured: nothing is noticed or sent. */
    isOff: channels.length === 0,
    /**
     * A step of each channel, which waits for no other: finds what needs a person, and sends a message. Returns whether more
     * may be due right away.
     * @source rules#alerts.4
     */
    steps: channels.map((channel) => async (): Promise<boolean> => {
      // Once for all: in a search of its own, each channel would hold a connection until its turn.
      finding ??= find().finally(() => {
        finding = undefined
      })
      await finding
      return sendNext(sender, channel)
    }),
    observe: createObserver(needs),
    /** Ends attempts under way, for which a shutdown has no time. Their messages stay due. */
    close: async () => {
      closing.abort()
      await agent.destroy()
    },
  }
}

/**
 * Opens alerts about what this process knows of its bank. Called each minute.
 * @source rules#alerts.9
 */
function createObserver({ database, clock }: AlertsNeeds): (look: BankLook) => Promise<void> {
  let unanswered = 0
  let awaySince: number | undefined
  return async ({ isBreakerOpen, isUnanswered, certificates }) => {
    const now = clock.now()
    unanswered = isUnanswered ? unanswered + 1 : 0
    const isAway = isBreakerOpen || unanswered >= UNANSWERED_LOOKS
    awaySince = isAway ? (awaySince ?? now) : undefined
    if (awaySince !== undefined) {
      const alertedSince = awaySince - limits.alertAgainMs
      await openObserved(database, { kind: 'bank_away', subject: 'bank', alertedSince }, now)
    }
    for (const { of, endsAt, urgency } of certificates) {
      if (urgency === 'none') continue
      const subject = `${of} ${dayOf(endsAt)} ${urgency}`
      await openObserved(database, { kind: 'certificate_ends', subject, alertedSince: 0 }, now)
    }
  }
}

interface Sender extends AlertsNeeds {
  readonly wording: Wording
}

/** @returns whether a message was due @source rules#alerts.4 */
async function sendNext(sender: Sender, channel: Channel): Promise<boolean> {
  const { database, clock, wording } = sender
  const now = clock.now()
  const leasedUntil = now + LEASE_MS
  const claimed = await claimMessage(database, channel.name, now, leasedUntil)
  if (!claimed) return false
  const { title, ...text } = textOf(claimed, wording)
  const prefix = sender.isProduction ? '[Pixgate]' : '[Pixgate sandbox]'
  const { id, madeAt } = claimed
  const fault = await channel.send({ ...text, id, madeAt, title: `${prefix} ${title}` })
  const endedAt = clock.now()
  const sentAt = fault === undefined ? endedAt : null
  const dueAt = fault === undefined ? null : nextAttemptAt(claimed, endedAt)
  await finishMessage(database, { id, channel: channel.name, leasedUntil, sentAt, dueAt })
  report(sender, channel, claimed, { fault, dueAt })
  return true
}

/** `null`: it is given up. */
function nextAttemptAt({ attempts }: ClaimedMessage, endedAt: number): number | null {
  if (attempts + 1 >= limits.alertAttemptsMax) return null
  const delays = limits.alertRetryDelaysMs
  return endedAt + (delays[Math.min(attempts, delays.length - 1)] as number)
}

interface Ended {
  readonly fault: string | undefined
  readonly dueAt: number | null
}

function report({ logger, observer }: Sender, { name, kind }: Channel, claimed: ClaimedMessage, ended: Ended): void {
  const fields = { channel: name, alert: claimed.kind, message: claimed.id, count: claimed.count }
  if (ended.fault === undefined) {
    observer.onAttempt(kind, 'sent')
    logger.info({ event: 'alert.sent', ...fields }, 'alert sent')
    return
  }
  const isGivenUp = ended.dueAt === null
  observer.onAttempt(kind, isGivenUp ? 'given_up' : 'failed')
  const reason = ended.fault
  if (isGivenUp) logger.error({ event: 'alert.given_up', ...fields, reason }, 'alert not sent; no attempt is left')
  else logger.warn({ event: 'alert.retry_scheduled', ...fields, reason }, 'alert not sent; it is tried again')
}
