import assert from 'node:assert/strict'
import test from 'node:test'
import { runDemo } from './run-demo.ts'

test('[config.5] [sandbox.20] [api-pix.13] the demo runs with a simulated Efí over mTLS, tokens and callbacks', async (t) => {
  const { exitCode, stdout, stderr } = await runDemo(t, {}, '--bank', 'efi')
  assert.equal(exitCode, 0, stdout + stderr)
  for (const line of [
    /✔ connection /,
    /✔ webhook +the bank reached/,
    /✔ Payout +CONFIRMED/,
    /✔ QR payout +CONFIRMED/,
  ]) {
    assert.match(stdout, line)
  }
})

test('[config.5] [api-pix.13] the demo shows what a bank with only API Pix does not support and does the rest', async (t) => {
  const { exitCode, stdout, stderr } = await runDemo(t, {}, '--bank', 'api-pix')
  assert.equal(exitCode, 0, stdout + stderr)
  assert.match(stdout, /✔ Payout +refused with 422 not_supported_by_bank/)
  assert.match(stdout, /✔ Refund /)
})
