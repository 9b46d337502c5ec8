import type { OperatorMethod } from '../../../scripts/generate/sdk-surface.ts'
import { cents, type PixgateOperator } from '../src/operator.ts'

interface Named {
  readonly id: string
}

/** What the examples of operators begin with. They stand in the documentation of the methods, and run as one story. */
export interface OperatorStory {
  /** With the rights of an admin. */
  readonly operator: PixgateOperator
  /** With the rights of an approver. */
  readonly approver: PixgateOperator
  readonly charge: Named
  readonly unpaid: Named
  /** Waits for an approval. */
  readonly payout: Named
  /** Of a charge that was paid twice; the second one is of so much that a decision needs another person. */
  readonly cases: readonly [Named, Named]
  /** Confirmed by the bank, as the refund is. */
  readonly paidOut: Named
  readonly refund: Named
  readonly close: Named
  readonly session: Named
  readonly receiverUrl: string
}

export const operatorExamples = {
  'apiKeys.create': async ({ operator }) => {
    const { apiKey } = await operator.apiKeys.create({ name: 'shop', scopes: ['read', 'charge'] })
    console.log(apiKey)
  },
  'apiKeys.list': async ({ operator }) => {
    for await (const { name, scopes } of operator.apiKeys.list()) console.log(name, scopes)
  },
  'apiKeys.deactivate': async ({ operator }) => {
    await operator.apiKeys.create({ name: 'leaked' })
    for await (const { id, name } of operator.apiKeys.list()) {
      if (name === 'leaked') await operator.apiKeys.deactivate(id)
    }
  },
  'cashOutSwitch.get': async ({ operator }) => {
    const { enabled, reason } = await operator.cashOutSwitch.get()
    console.log(enabled, reason)
  },
  'cashOutSwitch.set': async ({ operator }) => {
    await operator.cashOutSwitch.set({ enabled: false, reason: 'Incident 42' })
    await operator.cashOutSwitch.set({ enabled: true, reason: 'Incident 42 is over' })
  },
  'adjustments.create': async ({ operator }) => {
    await operator.adjustments.create({ valueCents: cents(500_00), reason: 'Opening balance' })
  },
  'refunds.create': async ({ operator, charge }) => {
    await operator.refunds.create({ cashInId: charge.id, valueCents: cents(5_00), reason: 'Returned goods' })
  },
  'signingKeys.list': async ({ operator }) => {
    const { data } = await operator.signingKeys.list()
    for (const { id, state } of data) console.log(id, state)
  },
  'signingKeys.create': async ({ operator }) => {
    const { id } = await operator.signingKeys.create({ reason: 'Yearly rotation' })
    console.log(id)
  },
  'signingKeys.promote': async ({ operator }) => {
    const { data } = await operator.signingKeys.list()
    for (const { id, state } of data) {
      if (state === 'next') await operator.signingKeys.promote(id, { reason: 'The key has leaked', force: true })
    }
  },
  'signingKeys.retire': async ({ operator }) => {
    const { data } = await operator.signingKeys.list()
    for (const { id, state } of data) {
      if (state === 'previous') await operator.signingKeys.retire(id, { reason: 'The key has leaked', force: true })
    }
  },
  'webhooks.create': async ({ operator, receiverUrl }) => {
    const { webhook_id, secret } = await operator.webhooks.create({ url: receiverUrl, events: ['pix_cash_out'] })
    console.log(webhook_id, secret)
  },
  'webhooks.list': async ({ operator }) => {
    const { data } = await operator.webhooks.list()
    for (const { webhook_id, url } of data) console.log(webhook_id, url)
  },
  'webhooks.get': async ({ operator }) => {
    const { data } = await operator.webhooks.list()
    for (const { webhook_id } of data) console.log((await operator.webhooks.get(webhook_id)).delivery.state)
  },
  'webhooks.pause': async ({ operator }) => {
    const { data } = await operator.webhooks.list()
    for (const { webhook_id } of data) await operator.webhooks.pause(webhook_id)
  },
  'webhooks.resume': async ({ operator }) => {
    const { data } = await operator.webhooks.list()
    for (const { webhook_id } of data) await operator.webhooks.resume(webhook_id)
  },
  'webhooks.test': async ({ operator }) => {
    const { data } = await operator.webhooks.list()
    for (const { webhook_id } of data) console.log((await operator.webhooks.test(webhook_id)).outcome)
  },
  'webhooks.rotateSecret': async ({ operator }) => {
    const { data } = await operator.webhooks.list()
    for (const { webhook_id } of data) await operator.webhooks.rotateSecret(webhook_id, { overlapSeconds: 0 })
  },
  'webhooks.recover': async ({ operator }) => {
    const { data } = await operator.webhooks.list()
    for (const { webhook_id } of data) await operator.webhooks.recover(webhook_id, { since: '2026-11-21T00:00:00Z' })
  },
  'webhooks.sendMissed': async ({ operator }) => {
    const { data } = await operator.webhooks.list()
    for (const { webhook_id } of data) await operator.webhooks.sendMissed(webhook_id, { since: '2026-11-21T00:00:00Z' })
  },
  'deliveries.list': async ({ operator, charge }) => {
    for await (const { id, state } of operator.deliveries.list({ operation_id: charge.id })) console.log(id, state)
  },
  'deliveries.get': async ({ operator }) => {
    const { data } = await operator.deliveries.list({ limit: 1 }).page()
    for (const { id } of data) console.log((await operator.deliveries.get(id)).attempts)
  },
  'deliveries.resend': async ({ operator }) => {
    const { data } = await operator.deliveries.list({ limit: 1 }).page()
    for (const { id } of data) console.log((await operator.deliveries.resend(id)).state)
  },
  'webhooks.delete': async ({ operator }) => {
    const { data } = await operator.webhooks.list()
    for (const { webhook_id } of data) await operator.webhooks.delete(webhook_id)
  },
  'approvals.list': async ({ approver }) => {
    for await (const { id, valueCents } of approver.approvals.list()) console.log(id, valueCents)
  },
  'approvals.decide': async ({ approver, payout }) => {
    await approver.approvals.decide(payout.id, { approved: true, reason: 'Invoice 77 is right' })
  },
  'cases.list': async ({ operator }) => {
    for await (const { id, kind, amountCents } of operator.cases.list({ state: 'open' })) {
      console.log(id, kind, amountCents)
    }
  },
  'cases.get': async ({ operator, cases: [found] }) => {
    const { kind, options } = await operator.cases.get(found.id)
    console.log(
      kind,
      options.map(({ decision }) => decision),
    )
  },
  'cases.note': async ({ operator, cases: [found] }) => {
    await operator.cases.note(found.id, { text: 'The customer was called' })
  },
  'cases.decide': async ({ operator, cases: [found] }) => {
    const { version } = await operator.cases.get(found.id)
    const amountCents = cents(10_00)
    const order = { decision: 'return_to_payer', amountCents, reason: 'Paid twice', version } as const
    const { effects } = await operator.cases.decide(found.id, { ...order, dryRun: true })
    console.log(effects?.amountCents)
    await operator.cases.decide(found.id, order)
  },
  'proposals.list': async ({ operator, cases: [, found] }) => {
    const { version } = await operator.cases.get(found.id)
    await operator.cases.decide(found.id, { decision: 'write_off', reason: 'Nobody claims it', version })
    const { data } = await operator.proposals.list()
    for (const { caseId, decision, amountCents } of data) console.log(caseId, decision, amountCents)
  },
  'cases.decideProposal': async ({ operator, approver }) => {
    const { data } = await operator.proposals.list()
    for (const { caseId, proposalId } of data) {
      await approver.cases.decideProposal(caseId, proposalId, { approved: true, reason: 'I agree' })
    }
  },
  'operators.create': async ({ operator }) => {
    const { token } = await operator.operators.create({ name: 'João', role: 'viewer' })
    console.log(token)
  },
  'operators.list': async ({ operator }) => {
    for await (const { name, role } of operator.operators.list()) console.log(name, role)
  },
  'operators.deactivate': async ({ operator }) => {
    for await (const { id, name } of operator.operators.list()) {
      if (name === 'João') await operator.operators.deactivate(id)
    }
  },
  'sessions.list': async ({ operator }) => {
    const { data } = await operator.sessions.list()
    for (const { id, userAgent } of data) console.log(id, userAgent)
  },
  'sessions.revoke': async ({ operator, session }) => {
    await operator.sessions.revoke(session.id)
  },
  'closes.list': async ({ operator }) => {
    for await (const { id, status } of operator.closes.list()) console.log(id, status)
  },
  'closes.get': async ({ operator, close }) => {
    const { status, differenceCents } = await operator.closes.get(close.id)
    console.log(status, differenceCents)
  },
  'closes.csv': async ({ operator, close }) => {
    console.log(await (await operator.closes.csv(close.id, { dialect: 'excel' })).text())
  },
  'closes.ofx': async ({ operator, close }) => {
    console.log(await (await operator.closes.ofx(close.id)).text())
  },
  'statement.csv': async ({ operator }) => {
    console.log(await (await operator.statement.csv()).text())
  },
  'operations.list': async ({ operator }) => {
    for await (const { id, kind, status } of operator.operations.list({ kind: 'cash_in' }))
      console.log(id, kind, status)
  },
  'operations.get': async ({ operator, charge }) => {
    const { status, actions } = await operator.operations.get(charge.id)
    console.log(status, actions)
  },
  'operations.search': async ({ operator }) => {
    const { data } = await operator.operations.search({ q: 'order-1' })
    for (const { match, operation } of data) console.log(match, operation.id)
  },
  'cashIns.qrCode': async ({ operator, unpaid }) => {
    const png = await operator.cashIns.qrCode(unpaid.id, { format: 'png' })
    console.log(png.size)
  },
  'cashIns.receipt': async ({ operator, charge }) => {
    const page = await operator.cashIns.receipt(charge.id, { format: 'html' })
    console.log(page.size)
  },
  'cashOuts.receipt': async ({ operator, paidOut }) => {
    const pdf = await operator.cashOuts.receipt(paidOut.id)
    console.log(pdf.size)
  },
  'refunds.receipt': async ({ operator, refund }) => {
    const pdf = await operator.refunds.receipt(refund.id)
    console.log(pdf.size)
  },
  'cashIns.cancel': async ({ operator, unpaid }) => {
    const { status } = await operator.cashIns.cancel(unpaid.id)
    console.log(status)
  },
  'ledger.list': async ({ operator }) => {
    for await (const { type, id } of operator.ledger.list()) console.log(type, id)
  },
  'ledger.entries': async ({ operator }) => {
    for await (const entry of operator.ledger.entries({ account: 'available' })) console.log(entry)
  },
  'reconciliation.get': async ({ operator }) => {
    console.log(await operator.reconciliation.get())
  },
  'overview.get': async ({ operator }) => {
    const { accounts, needsPerson } = await operator.overview.get()
    console.log(accounts, needsPerson)
  },
  'changes.list': async ({ operator }) => {
    const { cursor, changes } = await operator.changes.list()
    console.log(cursor, changes)
  },
  'audit.list': async ({ operator }) => {
    for await (const { at, actorName, action } of operator.audit.list()) console.log(at, actorName, action)
  },
  'system.get': async ({ operator }) => {
    const { mode, version, bank } = await operator.system.get()
    console.log(mode, version, bank)
  },
  'health.live': async ({ operator }) => {
    console.log((await operator.health.live()).status)
  },
  'health.ready': async ({ operator }) => {
    console.log((await operator.health.ready()).status)
  },
  'health.metrics': async ({ operator }) => {
    console.log(await (await operator.health.metrics()).text())
  },
  'apiKeys.deactivateAll': async ({ operator }) => {
    await operator.apiKeys.deactivateAll({ reason: 'A key has leaked, and it is not known which' })
  },
} satisfies Readonly<Record<OperatorMethod, (story: OperatorStory) => Promise<void>>>
