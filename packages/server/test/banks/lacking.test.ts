import assert from 'node:assert/strict'
import test from 'node:test'
import { faultInProduction, lacking, withinCapabilities } from '../../src/banks/lacking.ts'
import type { Partner, PartnerCapability } from '../../src/banks/port.ts'

/** A bank that says which call it got. */
function talkative(capabilities: readonly PartnerCapability[]): { partner: Partner; called: string[] } {
  const called: string[] = []
  const calls = Object.keys(lacking).map((name) => [
    name,
    async () => {
      called.push(name)
      return { kind: 'NOT_FOUND' }
    },
  ])
  const partner = { capabilities: new Set(capabilities), idempotencyWindowMs: 1, ...Object.fromEntries(calls) }
  return { partner: partner as Partner, called }
}

const ALL = {
  createCharge: 'charge',
  getCharge: 'query-charge',
  cancelCharge: 'cancel-charge',
  sendPayout: 'payout',
  getPayout: 'query-payout',
  decodeQrCode: 'decode-qr-code',
  sendRefund: 'refund',
  getRefund: 'query-refund',
  readStatement: 'statement',
  readBalance: 'balance',
} as const satisfies Partial<Record<keyof Partner, PartnerCapability>>

const NAMES = Object.keys(ALL) as (keyof typeof ALL)[]

/** Makes a call; with what does not matter here. */
function call(partner: Partner, name: keyof typeof ALL): Promise<{ readonly kind: string }> {
  return (partner[name] as unknown as () => Promise<{ readonly kind: string }>)()
}

for (const missing of NAMES) {
  test(`[partner.10] [PL-60] a bank without \u00ab${ALL[missing]}\u00bb is called for everything else`, async () => {
    const { partner, called } = talkative(NAMES.map((name) => ALL[name]).filter((name) => name !== ALL[missing]))
    const bank = withinCapabilities(partner)
    for (const name of NAMES) {
      assert.equal((await call(bank, name)).kind, name === missing ? 'NOT_SENT' : 'NOT_FOUND', name)
    }
    assert.deepEqual(
      called,
      NAMES.filter((name) => name !== missing),
    )
  })
}

test('[partner.10] what a bank can do is the connector’s own', () => {
  const { partner } = talkative(Object.values(ALL))
  assert.deepEqual(withinCapabilities(partner), partner)
})

test('[cash-in.credits.2] production does not start with a bank whose charges cannot be queried', () => {
  const all = Object.values(ALL)
  assert.equal(faultInProduction({ capabilities: new Set(all) }), undefined)
  const others = all.filter((capability) => capability !== 'query-charge')
  assert.match(faultInProduction({ capabilities: new Set(others) }) ?? '', /^PIXGATE_BANK: /)
})
