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
 * `npm run demo`: money in, out and back, from the API key to the ledger, on the sandbox that is running or on one that is
 * started for it. `npm run demo -- --bank efi` (or `api-pix`) starts one that is connected to the simulated bank as to a real
 * one, and tells what such a bank cannot do. Ends with 0 only if all of it happened.
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
  print('API key', `${apiKey.slice(0, 17)}… made with the admin token, and shown this once`)

  const receiver = await startReceiver(publicKeys(url))
  const subscription = { url: receiver.url, events: ['pix_cash_in', 'pix_cash_out', 'pix_cash_in_reversal'] }
  const { webhook_id } = await pix.post<{ webhook_id: string }>('/webhook', subscription)
  print('Webhook', `${receiver.url} is told of ${subscription.events.join(', ')}`)

  try {
    const before = await readBalance(pix)
    const charge = await createCharge(pix)
    await pay(pix, bank, charge)

    const notification = await until('no notification arrived', () =>
      receiver.notifications.find(({ event }) => event.id === charge.id),
    )
    assert.equal(notification.event.status, 'PAID', 'the notification does not say PAID')
    print('Notification', 'pix_cash_in PAID, and its signature is right')
    await forge(receiver)

    const netCents = VALUE_CENTS - notification.event.fee_amount_cents
    await readLedger(pix, charge, netCents)
    const paidOutCents = await payOut(pix, bank, receiver)
    await refund(pix, receiver, charge.id, REFUND_CENTS)
    const after = await readBalance(pix)
    assert.equal(after - before, netCents - paidOutCents - REFUND_CENTS, 'the balance is not what came less what went')
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
  print('Charge', `${reais(VALUE_CENTS)}, PENDING until ${charge.expirationDate}; a wallet scans or pastes this:`)
  console.log(`\n${drawing(charge.pixCode)}\n\n${charge.pixCode}\n`)
  return charge
}

/** Black on white whatever the terminal's colours are, as scanners expect it. */
function drawing(pixCode: string): string {
  const lines = encodeQR(pixCode, 'ascii', { ecc: 'low' }).trimEnd().split('\n')
  return lines.map((line) => styleText(['whiteBright', 'bgBlack'], line)).join('\n')
}

/** The simulated bank takes the money and tells Pixgate by its own event or callback, as a real one would. */
async function pay(pix: Client, bank: DemoBank, { id }: Charge): Promise<void> {
  const endToEndId = await bank.pay(id)
  const paid = await until('the charge did not become PAID', async () => {
    const charge = await pix.get<Charge & { endToEndId: string | null }>(`/api/pix/cash-in/${id}`)
    return charge.status === 'PAID' ? charge : undefined
  })
  assert.equal(paid.endToEndId, endToEndId, 'the charge was paid by another payment')
  print('Payment', `PAID, end-to-end id ${endToEndId}`)
}

/** @returns what it cost, centavos */
async function payOut(pix: Client, bank: DemoBank, receiver: Receiver): Promise<number> {
  // The standard has no way to send money; each bank adds one of its own, or none.
  if (bank.name === 'api-pix') return payoutsAreRefused(pix)
  const toKeyCents = await payKey(pix, receiver, PAYOUT_CENTS)
  const code = await bank.codeOfOther(QR_PAYOUT_CENTS)
  return toKeyCents + (await payCode(pix, receiver, code, QR_PAYOUT_CENTS))
}

/** What somebody else sends to the merchant's receiver. */
async function forge({ url }: Receiver): Promise<void> {
  const headers = { 'digital-signature': Buffer.from('forged').toString('base64') }
  const { status } = await fetch(url, { method: 'POST', headers, body: '{"event_type":"pix_cash_in"}' })
  assert.equal(status, 401, 'the receiver believed a forged notification')
  print('Forgery', 'refused by the receiver with 401')
}

async function readLedger(pix: Client, { id }: Charge, netCents: number): Promise<void> {
  const { data } = await pix.get<{ data: LedgerEntry[] }>(`/api/pix/ledger?reference_id=${id}`)
  const bookedCents = data.reduce((sum, entry) => sum + signedCents(entry), 0)
  assert.equal(bookedCents, netCents, 'the ledger does not say what was paid')
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
  assert.ok(brl, 'there is no balance')
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
  console.log('\nAll of it happened.')
} catch (error) {
  console.error(`\n✘ ${error instanceof Error ? error.message : error}`)
  process.exitCode = 1
}
