import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { promisify } from 'node:util'
import { boundsOf } from '../../src/platform/sao-paulo.ts'
import { closeWorld, fileOf } from './fixture.ts'

/**
 * Other people's readers of OFX. `PIXGATE_TEST_OFX_PYTHON` is the interpreter of a Python environment that has the packages
 * ofxparse and ofxtools.
 */

const PYTHON = process.env.PIXGATE_TEST_OFX_PYTHON

/** Prints what each reader makes of a file. */
const READ = `
import json, sys
from ofxparse import OfxParser
from ofxtools.Parser import OFXTree

with open(sys.argv[1], 'rb') as file:
    account = OfxParser.parse(file).account
parsed = {
    'bank': account.routing_number, 'account': account.account_id, 'balance': str(account.statement.balance),
    'lines': [[t.date.date().isoformat(), str(t.amount), t.payee, t.memo, t.id] for t in account.statement.transactions],
}
tree = OFXTree()
tree.parse(sys.argv[1])
statement = tree.convert().statements[0]
tools = {
    'bank': statement.account.bankid, 'account': statement.account.acctid, 'balance': str(statement.balance.balamt),
    'lines': [[t.dtposted.date().isoformat(), str(t.trnamt), t.name, t.memo, t.fitid] for t in statement.transactions],
}
print(json.dumps([parsed, tools]))
`

const skip = PYTHON === undefined && 'PIXGATE_TEST_OFX_PYTHON is not set to a Python with ofxparse and ofxtools'

test('[export.4] [export.5] ofxparse and ofxtools read the days, amounts and names', { skip }, async (t) => {
  const pix = await closeWorld(t, {}, { PIXGATE_OFX_ACCOUNT: '341/12345-6', PIXGATE_FEE_CASH_IN_CENTS: '10' })
  const pay = async (payerName: string) => {
    const { id } = await pix.charge('50.00')
    await pix.bankAction(`charges/${id}/pay`, { payerName })
    return pix.becomes(id, 'PAID')
  }
  const names = ['João D’Ávila', 'Ação & <Cia>', 'Loja 🛒', `${'Maria '.repeat(23)}Sá`]
  const charges = []
  for (const name of names) charges.push(await pay(name))
  const day = pix.today()
  // In UTC it is the next day.
  pix.clock.advance(boundsOf(day).to - 1 - pix.clock.now())
  charges.push(await pay('Zoë Last'))
  await pix.later(1)
  await pix.closing()
  const { bytes } = await fileOf(pix, `/operator/closes/${day}/ofx`)
  const directory = await mkdtemp(join(tmpdir(), 'pixgate-ofx-'))
  t.after(() => rm(directory, { recursive: true }))
  const path = join(directory, 'day.ofx')
  await writeFile(path, bytes)
  const { stdout } = await promisify(execFile)(PYTHON ?? '', ['-c', READ, path])
  const shown = ['João D’Ávila', 'Ação & <Cia>', 'Loja', 'Maria Maria Maria', 'Zoë Last']
  for (const read of JSON.parse(stdout)) {
    assert.deepEqual([read.bank, read.account, read.balance], ['341', '12345-6', '249.50'])
    const pixes = read.lines.filter(([, amount]: string[]) => amount === '50.00')
    assert.deepEqual(
      read.lines.map(([on, amount]: string[]) => [on, amount]),
      charges.flatMap(() => [
        [day, '50.00'],
        [day, '-0.10'],
      ]),
    )
    assert.deepEqual(
      pixes.map(([, , name]: string[]) => name),
      shown.map((name) => `Pix recebido – ${name}`),
    )
    for (const [at, { endToEndId, externalId }] of charges.entries()) {
      assert.ok(pixes[at][3].endsWith(`; ID ${endToEndId}; ref. ${externalId}`), pixes[at][3])
    }
    assert.equal(new Set(read.lines.map(([, , , , id]: string[]) => id)).size, 10)
  }
})
