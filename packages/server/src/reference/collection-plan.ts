import type { endpoints } from '@pixgate/spec'

/** A request of the collection. */
export interface Step {
  readonly id: keyof typeof endpoints
  /** Where it is not the first of its operation: what it is called instead of the summary. */
  readonly name?: string
  /** Instead of the example. */
  readonly body?: object
  /** What has to hold of the answer, a JSON `body`, before the next request is made. The simulated bank brings it about. */
  readonly until?: string
}

/** Requests that belong together. */
export interface Folder {
  readonly name: string
  readonly description: string
  /** Whether it is for the sandbox alone. */
  readonly isOfSandbox?: true
  readonly steps: readonly Step[]
}

const TOP_UP_CENTS = 50_000

/** A bank as it is when it starts. */
const GOOD_BANK = {
  ...{ cashIn: 'answer', cashOut: 'auto', refundIn: 'auto' },
  ...{ latencyMs: 0, eventDelayMs: 0, eventCopies: 1, eventsShuffled: false },
}

const AT_THE_BANK = 'body.transactionId !== null'

/** A payout that the bank neither confirms nor fails by itself. */
function payoutThatWaits(which: string): readonly Step[] {
  return [
    {
      id: 'createCashOut',
      name: `Send a payout that waits: ${which}`,
      body: {
        transaction: { value: 1, externalId: 'payout-waits' },
        recipient: { pixKey: 'joao@example.com', pixKeyType: 'email' },
      },
    },
    { id: 'getCashOut', name: `Read the payout that waits: ${which}`, until: AT_THE_BANK },
  ]
}

/** A refund that the bank neither confirms nor fails by itself. */
function refundThatWaits(which: string): readonly Step[] {
  return [
    {
      id: 'createRefundIn',
      name: `Send a refund that waits: ${which}`,
      body: { refundValue: 1, externalId: 'refund-waits' },
    },
    { id: 'getRefundIn', name: `Read the refund that waits: ${which}`, until: AT_THE_BANK },
  ]
}

const SIMULATED_BANK: Folder = {
  name: 'At the simulated bank',
  description: 'What can be done at no real bank. At the end it is a good bank again.',
  isOfSandbox: true,
  steps: [
    { id: 'getBankBehavior' },
    { id: 'reverseCashOut' },
    { id: 'returnCashIn' },
    {
      id: 'changeBankBehavior',
      name: 'Let payouts and refunds wait at the simulated bank',
      body: { cashOut: 'manual', refundIn: 'manual' },
    },
    ...payoutThatWaits('it will arrive'),
    { id: 'confirmCashOut' },
    ...payoutThatWaits('it will fail'),
    { id: 'failCashOut' },
    ...refundThatWaits('it will arrive'),
    { id: 'confirmRefundIn' },
    ...refundThatWaits('it will fail'),
    { id: 'failRefundIn' },
    { id: 'createCashIn', name: 'Create a charge that will fail' },
    { id: 'failCashIn' },
    { id: 'changeBankBehavior', name: 'Make the simulated bank a good bank again', body: GOOD_BANK },
  ],
}

const SIGNING_KEY: Folder = {
  name: 'Another signing key',
  description: 'Notifications are signed with another key at once, which is not tried where merchants receive them.',
  isOfSandbox: true,
  steps: [
    { id: 'createSigningKey', name: 'Make the signing key that follows' },
    { id: 'promoteSigningKey', body: { reason: 'A rotation by way of trial', force: true } },
  ],
}

/**
 * The requests of the collection, in the order in which each finds what it needs: run as a whole they all succeed, and leave
 * the service as it was, but for what was paid.
 * @source rules#reference.11
 */
export const collectionPlan: readonly Folder[] = [
  {
    name: 'Key and webhook endpoint',
    description: 'What every client begins with.',
    steps: [
      { id: 'generateApiKey' },
      { id: 'listApiKeys' },
      { id: 'createWebhook' },
      { id: 'listWebhooks' },
      { id: 'getWebhook' },
      { id: 'testWebhook' },
      { id: 'getPublicKey' },
      { id: 'listPublicKeys' },
      { id: 'getJwks' },
    ],
  },
  {
    name: 'Money in',
    description: 'A charge, and who pays it.',
    steps: [
      { id: 'createCashIn' },
      { id: 'payCashIn' },
      { id: 'getCashIn', until: "body.status === 'PAID'" },
      { id: 'listCashIns' },
      { id: 'listIncomingTransactions' },
      { id: 'listIncomingTransactionsShort', name: 'List incoming transactions under their short path' },
      { id: 'listWebhookDeliveries', until: 'body.data.length > 0' },
      { id: 'getWebhookDelivery' },
      { id: 'resendWebhookDelivery' },
      { id: 'recoverWebhook' },
      { id: 'sendMissedToWebhook' },
    ],
  },
  {
    name: 'Money out',
    description: 'Payouts, to a key and to a code.',
    steps: [
      { id: 'createCashOut' },
      { id: 'getCashOut', until: "body.status === 'CONFIRMED'" },
      { id: 'listCashOuts' },
      { id: 'createCashOutFromQrCode' },
    ],
  },
  {
    name: 'Money back',
    description: 'A part of the payment goes back.',
    steps: [
      { id: 'createRefundIn' },
      { id: 'getRefundIn', until: "body.status === 'CONFIRMED'" },
      { id: 'listRefundIns' },
    ],
  },
  {
    name: 'Books',
    description: 'What is available, and every movement of it.',
    steps: [
      { id: 'getBalance' },
      { id: 'listLedgerEntries' },
      { id: 'getLedgerEntry' },
      { id: 'exportLedger' },
      { id: 'listCloses' },
      { id: 'listEvents' },
    ],
  },
  SIMULATED_BANK,
  {
    name: 'Operator',
    description: 'What the operator does by hand. Each thing is undone by the next.',
    steps: [
      { id: 'getCashOutSwitch' },
      { id: 'setCashOutSwitch' },
      {
        id: 'setCashOutSwitch',
        name: 'Resume payouts',
        body: { enabled: true, reason: 'Incident 42 is over' },
      },
      { id: 'createAdjustment', body: { valueCents: TOP_UP_CENTS, reason: 'Opening balance' } },
      {
        id: 'createAdjustment',
        name: 'Take the adjustment back',
        body: { valueCents: -TOP_UP_CENTS, reason: 'Opening balance, taken back' },
      },
      { id: 'listApprovals' },
      { id: 'listCases' },
      { id: 'createSigningKey' },
      { id: 'listSigningKeys' },
      { id: 'retireSigningKey' },
      { id: 'createOperator' },
      { id: 'listOperators' },
      { id: 'deactivateOperator' },
    ],
  },
  SIGNING_KEY,
  {
    name: 'Health',
    description: 'For supervisors, load balancers and Prometheus.',
    steps: [{ id: 'getHealth' }, { id: 'getReadiness' }, { id: 'getMetrics' }],
  },
  {
    name: 'Ends',
    description: 'What the other requests need is ended by these, so that they stand last.',
    steps: [
      { id: 'pauseWebhook' },
      { id: 'resumeWebhook' },
      { id: 'rotateWebhookSecret' },
      { id: 'deleteWebhook' },
      { id: 'deactivateApiKey' },
    ],
  },
]
