import assert from 'node:assert/strict'
import { parseArgs, styleText } from 'node:util'
import { encodeQR } from 'qr'
import { BANK_NAMES, type BankName, type DemoBank } from './demo/bank.ts'
import { type Client, createClient } from './demo/client.ts'
import { payCode, payKey, payoutsAreRefused, refund } from './demo/money-out.ts'
import { print, reais, until } from './demo/output.ts'
import { publicKeys } from './demo/public-keys.ts'
import { type Receiver, startReceiver } from './demo/receiver.ts'
import { openSandbox, type Sandbox } from './demo/sandbox.ts'
import { startStandardSandbox } from './demo/standard-sandbox.ts'

/**
 * `npm run demo`: a charge, payouts and a refund, from the API key to the ledger, on the running sandbox or on a new one.
 * `npm run demo -- --bank efi` (or `api-pix`) starts a sandbox that connects to the simulated bank like to a real one, and
 * shows what such a bank does not support. Exits with 0 only if all steps passed.
 */

const VALUE_CENTS = 4_250
const PAYOUT_CENTS = 1_500
const QR_PAYOUT_CENTS = 700
const REFUND_CENTS = 550

interface Charge {
  readonly id: string
  readonly status: string
  readonly pixCode?: string
  readonly expirationDate: string
}

async function tour({ url, operatorUrl, adminToken, openBank, isOurs }: Sandbox): Promise<void> {
  print('Sandbox', isOurs ? `${url}, started for this tour` : `${url} is running`)

  const { apiKey } = await createClient(operatorUrl, adminToken).post<{ apiKey: string }>('/api-key/generate')
  const pix = createClient(url, apiKey)
  const bank = openBank(pix)
  print('API key', `${apiKey.slice(0, 17)}… created with the admin token, shown only once`)

  const receiver = await startReceiver(publicKeys(url))
  const subscription = { url: receiver.url, events: ['pix_cash_in', 'pix_cash_out', 'pix_cash_in_reversal'] }
  const { webhook_id } = await pix.post<{ webhook_id: string }>('/webhook', subscription)
  print('Webhook', `${receiver.url} subscribes to ${subscription.events.join(', ')}`)

  try {
    const before = await readBalance(pix)
    const charge = await createCharge(pix)
    await pay(pix, bank, charge)

    const notification = await until('no notification arrived', () =>
      receiver.notifications.find(({ event }) => event.id === charge.id),
    )
    assert.equal(notification.event.status, 'PAID', 'the status of the notification is not PAID')
    print('Notification', 'pix_cash_in PAID, valid signature')
    await forge(receiver)

    const netCents = VALUE_CENTS - notification.event.fee_amount_cents
    await readLedger(pix, charge, netCents)
    const paidOutCents = await payOut(pix, bank, receiver)
    await refund(pix, receiver, charge.id, REFUND_CENTS)
    const after = await readBalance(pix)
    assert.equal(
      after - before,
      netCents - paidOutCents - REFUND_CENTS,
      'the balance did not change by the sum of the movements',
    )
    print('Balance', `${reais(before)} → ${reais(after)}`)
  } finally {
    await pix.delete(`/webhook/${webhook_id}`)
    await receiver.stop()
  }
}

async function createCharge(pix: Client): Promise<Charge> {
  const charge = await pix.post<Charge>('/api/pix/cash-in', {
    transaction: {
      value: VALUE_CENTS / 100,
      externalId: `demo-${crypto.randomUUID()}`,
      description: 'Café com pão de queijo',
      expirationTime: 3_600,
    },
    payer: { fullName: 'Maria da Silva', document: '529.982.247-25' },
  })
  assert.equal(charge.status, 'PENDING', 'the charge is not PENDING')
  assert.ok(charge.pixCode, 'the charge has no Pix code')
  print('Charge', `${reais(VALUE_CENTS)}, PENDING until ${charge.expirationDate}; scan or paste this in a wallet:`)
  console.log(`\n${drawing(charge.pixCode)}\n\n${charge.pixCode}\n`)
  return charge
}

/** QR code in black on white, as scanners expect, regardless of the terminal's colours. */
function drawing(pixCode: string): string {
  const lines = encodeQR(pixCode, 'ascii', { ecc: 'low' }).trimEnd().split('\n')
  return lines.map((line) => styleText(['whiteBright', 'bgBlack'], line)).join('\n')
}

/** The simulated bank receives the payment and reports it to Pixgate by an event or callback, as a real bank does. */
async function pay(pix: Client, bank: DemoBank, { id }: Charge): Promise<void> {
  const endToEndId = await bank.pay(id)
  const paid = await until('the charge did not become PAID', async () => {
    const charge = await pix.get<Charge & { endToEndId: string | null }>(`/api/pix/cash-in/${id}`)
    return charge.status === 'PAID' ? charge : undefined
  })
  assert.equal(paid.endToEndId, endToEndId, 'the charge has another endToEndId')
  print('Payment', `PAID, end-to-end id ${endToEndId}`)
}

/** @returns the debited amount with fees, centavos */
async function payOut(pix: Client, bank: DemoBank, receiver: Receiver): Promise<number> {
  // The standard does not define payouts; some banks add an API of their own.
  if (bank.name === 'api-pix') return payoutsAreRefused(pix)
  const toKeyCents = await payKey(pix, receiver, PAYOUT_CENTS)
  const code = await bank.codeOfOther(QR_PAYOUT_CENTS)
  return toKeyCents + (await payCode(pix, receiver, code, QR_PAYOUT_CENTS))
}

/** Sends a forged notification to the merchant's receiver. */
async function forge({ url }: Receiver): Promise<void> {
  const headers = { 'digital-signature': Buffer.from('forged').toString('base64') }
  const { status } = await fetch(url, { method: 'POST', headers, body: '{"event_type":"pix_cash_in"}' })
  assert.equal(status, 401, 'the receiver accepted a forged notification')
  print('Forgery', 'refused by the receiver with 401')
}

async function readLedger(pix: Client, { id }: Charge, netCents: number): Promise<void> {
  const { data } = await pix.get<{ data: LedgerEntry[] }>(`/api/pix/ledger?reference_id=${id}`)
  const bookedCents = data.reduce((sum, entry) => sum + signedCents(entry), 0)
  assert.equal(bookedCents, netCents, 'the ledger does not match the payment')
  const lines = data.map((entry) => `${entry.operation} ${reais(signedCents(entry))}`)
  print('Ledger', lines.reverse().join(', '))
}

interface LedgerEntry {
  readonly operation: string
  readonly type: 'CREDIT' | 'DEBIT'
  readonly amountCents: number
}

function signedCents({ type, amountCents }: LedgerEntry): number {
  return type === 'CREDIT' ? amountCents : -amountCents
}

/** @returns centavos */
async function readBalance(pix: Client): Promise<number> {
  const [brl] = await pix.get<{ amount: number }[]>('/organization/balance')
  assert.ok(brl, 'the balance is missing')
  return Math.round(brl.amount * 100)
}

/** @throws Error where it is no bank of the tour */
function chosenBank(): BankName {
  const { bank = 'pixgate' } = parseArgs({ options: { bank: { type: 'string' } } }).values
  const name = BANK_NAMES.find((known) => known === bank)
  if (name === undefined) throw new Error(`--bank is one of ${BANK_NAMES.join(', ')}`)
  return name
}

try {
  const bank = chosenBank()
  const sandbox = await (bank === 'pixgate' ? openSandbox() : startStandardSandbox(bank))
  await tour(sandbox).finally(sandbox.stop)
  console.log('\nAll steps passed.')
} catch (error) {
  console.error(`\n✘ ${error instanceof Error ? error.message : error}`)
  process.exitCode = 1
}
