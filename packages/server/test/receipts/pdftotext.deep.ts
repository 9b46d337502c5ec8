import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { promisify } from 'node:util'
import { receiptPdf } from '../../src/receipts/document.ts'
import { cashInReceipt, cashOutReceipt, refundReceipt } from '../../src/receipts/receipt.ts'
import { LONGEST, MERCHANT, PAID, PAYOUT, REFUND } from './samples.ts'

/** Receipts as another program reads them. */

const RECEIPTS = {
  charge: cashInReceipt(PAID, MERCHANT),
  payout: cashOutReceipt(PAYOUT, MERCHANT),
  refund: refundReceipt(REFUND, PAID, MERCHANT),
  longest: LONGEST,
}

for (const [kind, receipt] of Object.entries(RECEIPTS)) {
  test(`[receipt.5] pdftotext reads the receipt: ${kind}`, async (t) => {
    if (spawnSync('pdftotext', ['-v']).status !== 0) return t.skip('pdftotext (poppler-utils) is not installed')
    const directory = await mkdtemp(join(tmpdir(), 'pixgate-receipt-'))
    t.after(() => rm(directory, { recursive: true }))
    const file = join(directory, 'receipt.pdf')
    await writeFile(file, await receiptPdf(receipt))
    const { stdout, stderr } = await promisify(execFile)('pdftotext', ['-raw', file, '-'])
    assert.equal(stderr, '', 'no fault of the file')
    const { title, amount, at, payer, payee, details, footer } = receipt
    const read = stdout.replaceAll(/\s/g, '')
    for (const text of [
      title,
      amount,
      at,
      footer,
      ...[payer, payee].flatMap(({ name, facts }) => [name, ...facts.flat()]),
      ...details.flat(),
    ]) {
      assert.ok(read.includes(text.replaceAll(/\s/g, '')), text)
    }
  })
}
