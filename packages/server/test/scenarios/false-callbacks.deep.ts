import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import type { Bank } from '../../src/banks/bank.ts'
import { everythingMoved } from '../support/books.ts'
import { cases, inbox, notifiedStatuses } from '../support/evidence.ts'
import { callbackAddress, PIX_KEY } from '../support/standard-bank.ts'
import { type World, world } from '../support/world.ts'

/** Forged callbacks at banks that do not sign theirs: they cause a query at most. */

const BANKS = ['api-pix', 'efi'] as const

const UNKNOWN = '0198c0de7a11700080005f1d3c2b1a09'

function noting(bank: Bank, asked: string[]): Bank {
  return {
    ...bank,
    getCharge: (id, ...more) => {
      asked.push(`charge ${id}`)
      return bank.getCharge(id, ...more)
    },
    getPayout: (id, ...more) => {
      asked.push(`payout ${id}`)
      return bank.getPayout(id, ...more)
    },
    getRefund: (id, ...more) => {
      asked.push(`refund ${id}`)
      return bank.getRefund(id, ...more)
    },
  }
}

async function story(t: TestContext, standard: (typeof BANKS)[number]) {
  const asked: string[] = []
  const pix = await world(t, {}, { isStepped: true, standard, bank: (bank) => noting(bank, asked) })
  return { pix, asked }
}

/** Sends what anybody may send. @returns the status of the answer */
async function send(pix: World, body: unknown, shown?: string | null): Promise<number> {
  const { status } = await fetch(callbackAddress(pix.url, shown), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
  return status
}

/** So many items are less than the longest body that is read. */
const ITEMS_MAX = 50

async function sendAll(pix: World, items: readonly object[]): Promise<void> {
  for (let from = 0; from < items.length; from += ITEMS_MAX)
    assert.equal(await send(pix, { pix: items.slice(from, from + ITEMS_MAX) }), 200)
}

let serial = 0

/** A payment in the bank's form, with any content. */
function paymentOf(txid: string, more: object = {}) {
  serial += 1
  const endToEndId = `E12345678202611221210${String(serial).padStart(11, '0')}`
  return { endToEndId, txid, valor: '100.00', chave: PIX_KEY, horario: '2026-11-22T12:10:00.000Z', ...more }
}

const stands = async (pix: World) => ({ ...(await everythingMoved(pix)), cases: await cases(pix.database) })

for (const bank of BANKS) {
  test(`[api-pix.11] [EV-47] at ${bank}: a false callback changes nothing, and causes at most one query`, async (t) => {
    const { pix, asked } = await story(t, bank)
    const { id } = await pix.charge('100')
    const paid = await pix.charge('100')
    await pix.bankAction(`charges/${paid.id}/pay`)
    await pix.until(`/api/pix/cash-in/${paid.id}`, ({ status }) => status === 'PAID')
    // Whatever was under way about the payment is over.
    await pix.later(60_001)
    const before = await stands(pix)
    const [txid, paidTxid] = [await pix.orderIdOf(id), await pix.orderIdOf(paid.id)]
    const returned = { id: UNKNOWN, rtrId: 'D9', valor: '100.00', status: 'DEVOLVIDO', natureza: 'MED_FRAUDE' }
    const sent = { ...paymentOf(txid), txid: undefined, tipo: 'SOLICITACAO', status: 'NAO_REALIZADO' }

    for (const [name, item, question] of [
      ['an unknown txid', paymentOf(UNKNOWN), undefined],
      ['a txid that is none', paymentOf("'; DROP TABLE cash_in; --"), undefined],
      ['no txid', paymentOf(txid, { txid: undefined }), undefined],
      ['another key', paymentOf(txid, { chave: 'ladrao@exemplo.com.br' }), `charge ${txid}`],
      ['another amount', paymentOf(txid, { valor: '1000000.00' }), `charge ${txid}`],
      ['an amount that is none', paymentOf(txid, { valor: '-1e9' }), `charge ${txid}`],
      ['a payment that does not exist', paymentOf(txid), `charge ${txid}`],
      ['a second payment that does not exist', paymentOf(paidTxid), `charge ${paidTxid}`],
      ['a return that does not exist', paymentOf(paidTxid, { devolucoes: [returned] }), `charge ${paidTxid}`],
      ['an unknown payout', { ...sent, gnExtras: { idEnvio: UNKNOWN } }, undefined],
      ['a charge as a payout', { ...sent, gnExtras: { idEnvio: txid } }, undefined],
    ] as const) {
      asked.length = 0
      assert.equal(await send(pix, { pix: [item] }), 200, name)
      await pix.work()
      assert.deepEqual(asked, question ? [question] : [], name)
      assert.deepEqual(await stands(pix), before, name)
      await pix.later(20_000)
    }
    for (const waitMs of [60_001, 300_001, 900_001]) await pix.later(waitMs)
    assert.deepEqual(await stands(pix), before, 'nor later')
    await pix.assertBooksAgree()
  })

  test(`[api-pix.11] at ${bank}: a request without the secret, or one that is no callback, is not stored and causes no query`, async (t) => {
    const { pix, asked } = await story(t, bank)
    const { id } = await pix.charge('100')
    const item = paymentOf(await pix.orderIdOf(id))
    for (const [name, body, shown, expected] of [
      ['no secret', { pix: [item] }, null, 401],
      ['an empty secret', { pix: [item] }, '', 401],
      ['a wrong secret', { pix: [item] }, 'callback-secret-of-the-tests-0123456780', 401],
      ['not JSON', 'pix=1', undefined, 200],
      ['JSON that is cut', JSON.stringify({ pix: [item] }).slice(0, -3), undefined, 200],
      ['nothing', '', undefined, 200],
      ['a list of something else', [1, 'a'], undefined, 200],
      ['items that are none', { pix: [null, 1, 'a'] }, undefined, 200],
      ['an item of another shape', { pix: [{ txid: 7 }] }, undefined, 200],
      ['the test of the address', { evento: 'teste_webhook' }, undefined, 200],
      ['more than is read', { pix: [{ ...item, infoPagador: 'a'.repeat(2_000_000) }] }, undefined, 413],
    ] as const) {
      assert.equal(await send(pix, body, shown), expected, name)
      await pix.work()
      assert.deepEqual(asked, [], name)
      assert.deepEqual(await inbox(pix.database), [], name)
    }
    assert.deepEqual([await cases(pix.database), (await pix.read(id)).status], [[], 'PENDING'])
  })

  test(`[partner.7] [EV-44] [EV-47] at ${bank}: thousands of items in one second cause no more queries than the budget allows`, async (t) => {
    const { pix, asked } = await story(t, bank)
    const charges = await Promise.all(Array.from({ length: 250 }, () => pix.charge('1')))
    const txids = await Promise.all(charges.map(({ id }) => pix.orderIdOf(id)))
    const [first = ''] = txids
    asked.length = 0

    await sendAll(
      pix,
      Array.from({ length: 1_000 }, () => paymentOf(first)),
    )
    await pix.work()
    // One is under way and one is wanted, whatever comes meanwhile: how many that makes goes by how long the callbacks take.
    assert.ok(asked.length <= 1 + 1_000 / ITEMS_MAX, `a thousand about one charge make ${asked.length} questions`)

    await sendAll(
      pix,
      Array.from({ length: 1_000 }, () => paymentOf(UNKNOWN)),
    )
    await sendAll(
      pix,
      txids.flatMap((txid) => Array.from({ length: 4 }, () => paymentOf(txid))),
    )
    await pix.work()
    assert.ok(asked.length <= 200, `at once ${asked.length} questions`)
    const atOnce = asked.length
    await pix.later(1_000)
    assert.ok(asked.length <= atOnce + 100, `a second later ${asked.length - atOnce} more`)

    for (let steps = 0; steps < 10; steps++) await pix.later(1_000)
    assert.equal(new Set(asked).size, 250, 'each charge is asked about in its turn')
    assert.deepEqual(await cases(pix.database), [])
    assert.deepEqual(await notifiedStatuses(pix.database), [])
    await pix.assertBooksAgree()
  })
}
