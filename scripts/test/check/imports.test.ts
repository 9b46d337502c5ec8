import assert from 'node:assert/strict'
import test from 'node:test'
import { importProblems } from '../../check/imports.ts'

const server = 'packages/server/src'

const allowed: readonly (readonly [path: string, code: string])[] = [
  ['packages/spec/src/cash-in/machine.ts', "import { machine } from '../machine.ts'"],
  ['packages/spec/src/shapes.ts', "import { Type } from 'typebox'"],
  ['packages/bank-simulator/src/charges.ts', "import { buildDynamicBrCode } from '@pixgate/brcode'"],
  ['packages/server/src/banks/pixgate/http-partner.ts', "import type { Clock } from '../../platform/clock.ts'"],
  ['packages/server/src/engine/engine.ts', "import { statement } from '../platform/db/database.ts'"],
  [`${server}/cash-in/store.ts`, "import { statement } from '../platform/db/database.ts'"],
  [`${server}/cash-in/commands.ts`, "import { follow } from '../engine/follow.ts'"],
  [`${server}/cash-in/jobs.ts`, "import { sentOnce } from '../banks/port.ts'"],
  [`${server}/cash-in/rules.ts`, "import type { Payment } from '../banks/port.ts'"],
  [`${server}/cash-in/commands.ts`, "import { balanceOf } from '../balance/index.ts'"],
  [`${server}/refund-in/commands.ts`, "import { cashInById } from '../cash-in/index.ts'"],
  [`${server}/inbox/jobs.ts`, "import { follow } from '../cash-in/index.ts'"],
  ['packages/server/src/app.ts', "import { follow } from './cash-in/commands.ts'"],
  ['packages/server/test/cash-in/a.test.ts', "import { follow } from '../../src/cash-in/commands.ts'"],
  ['packages/server/test/support/database.ts', "import { statement } from '../../src/platform/db/database.ts'"],
  [`${server}/health/routes.ts`, "import packageJson from '../../package.json' with { type: 'json' }"],
  ['packages/sandbox/src/start.ts', "import { serve } from '@pixgate/server'"],
  ['packages/sandbox/src/config.ts', "import { configOf } from '@pixgate/server/config'"],
]

for (const [path, code] of allowed) {
  test(`${path}: ${code} is allowed`, () => {
    assert.deepEqual(importProblems([{ path, text: code }]), [])
  })
}

const refused: readonly (readonly [path: string, code: string, problem: RegExp])[] = [
  ['packages/spec/src/cash-in/machine.ts', "import { crc16 } from '@pixgate/brcode'", /spec may not import brcode/],
  ['packages/brcode/src/parse.ts', "export * from '@pixgate/spec'", /brcode may not import spec/],
  [
    'packages/bank-simulator/src/a.ts',
    "import { ids } from '../../server/src/platform/ids.ts'",
    /may not import server\/platform/,
  ],
  [
    'packages/server/src/platform/http/a.ts',
    "import { follow } from '../../cash-in/index.ts'",
    /may not import server/,
  ],
  ['packages/server/src/platform/a.ts', "import type { Partner } from '../banks/port.ts'", /may not import/],
  ['packages/server/src/engine/engine.ts', "import { a } from '../ledger/index.ts'", /may not import/],
  [`${server}/ledger/store.ts`, "import { a } from '../balance/index.ts'", /may not import server\/balance/],
  [`${server}/ledger/store.ts`, "import { a } from '../engine/engine.ts'", /may not import server\/engine/],
  [`${server}/cash-out/commands.ts`, "import { a } from '../cash-in/index.ts'", /may not import server\/cash-in/],
  [`${server}/cash-in/commands.ts`, "import { a } from '../refund-in/index.ts'", /may not import server\/refund-in/],
  [`${server}/refund-in/commands.ts`, "import { a } from '../cash-in/commands.ts'", /by its index\.ts/],
  [`${server}/cash-in/commands.ts`, "import { send } from '../banks/port.ts'", /only jobs\.ts/],
  [`${server}/cash-in/commands.ts`, "import type { Partner } from '../banks/port.ts'", /only jobs\.ts/],
  [`${server}/cash-in/rules.ts`, "import { type Payment, send } from '../banks/port.ts'", /only jobs\.ts/],
  [`${server}/cash-in/view.ts`, "import { load } from '../app.ts'", /may not import server\/app\.ts/],
  [`${server}/cash-in/view.ts`, "const { a } = await import('../webhooks/index.ts')", /may not import server/],
  [`${server}/cash-in/view.ts`, "import '../webhooks/index.ts'", /may not import server/],
  [`${server}/start.ts`, "import { sandboxControls } from '@pixgate/sandbox'", /may not import sandbox/],
  ['packages/sandbox/src/start.ts', "import { a } from '../../server/src/app.ts'", /may not import server\/app/],
  ['packages/server/src/bank/a.ts', "import { errors } from '@pixgate/spec'", /not in the table/],
]

for (const [path, code, problem] of refused) {
  test(`${path}: ${code} is refused`, () => {
    const problems = importProblems([{ path, text: code }])
    assert.equal(problems.length, 1)
    assert.match(problems[0] ?? '', problem)
  })
}

test('an import over several lines is seen', () => {
  const text = ["import type { A } from './a.ts'", 'import {', '  b,', '  c,', "} from '@pixgate/server'"].join('\n')
  assert.equal(importProblems([{ path: 'packages/spec/src/money.ts', text }]).length, 1)
})
