import assert from 'node:assert/strict'
import test from 'node:test'
import { importProblems } from '../../check/imports.ts'

const module = 'packages/server/src/modules'

const allowed: readonly (readonly [path: string, code: string])[] = [
  ['packages/spec/src/cash-in.ts', "import { machine } from './machine.ts'"],
  ['packages/spec/src/shapes.ts', "import { Type } from 'typebox'"],
  ['packages/bank-simulator/src/charges.ts', "import { buildDynamicBrCode } from '@pixgate/brcode'"],
  ['packages/server/src/partner/http-partner.ts', "import type { Clock } from '../platform/clock.ts'"],
  ['packages/server/src/engine/engine.ts', "import { statement } from '../platform/db/database.ts'"],
  [`${module}/cash-in/store.ts`, "import { statement } from '../../platform/db/database.ts'"],
  [`${module}/cash-in/commands.ts`, "import { follow } from '../../engine/follow.ts'"],
  [`${module}/cash-in/jobs.ts`, "import { sentOnce } from '../../partner/port.ts'"],
  [`${module}/cash-in/rules.ts`, "import type { Payment } from '../../partner/port.ts'"],
  [`${module}/cash-in/commands.ts`, "import { balanceOf } from '../balance/index.ts'"],
  [`${module}/refund-in/commands.ts`, "import { cashInById } from '../cash-in/index.ts'"],
  [`${module}/partner-inbox/jobs.ts`, "import { follow } from '../cash-in/index.ts'"],
  ['packages/server/src/compose.ts', "import { follow } from './modules/cash-in/commands.ts'"],
  ['packages/server/test/modules/cash-in.test.ts', "import { follow } from '../../src/modules/cash-in/commands.ts'"],
  ['packages/server/test/support/database.ts', "import { statement } from '../../src/platform/db/database.ts'"],
]

for (const [path, code] of allowed) {
  test(`${path}: ${code} is allowed`, () => {
    assert.deepEqual(importProblems([{ path, text: code }]), [])
  })
}

const refused: readonly (readonly [path: string, code: string, problem: RegExp])[] = [
  ['packages/spec/src/cash-in.ts', "import { crc16 } from '@pixgate/brcode'", /spec may not import brcode/],
  ['packages/brcode/src/parse.ts', "export * from '@pixgate/spec'", /brcode may not import spec/],
  [
    'packages/bank-simulator/src/a.ts',
    "import { ids } from '../../server/src/platform/ids.ts'",
    /may not import server\/platform/,
  ],
  [
    'packages/server/src/platform/http/a.ts',
    "import { follow } from '../../modules/cash-in/index.ts'",
    /may not import modules/,
  ],
  ['packages/server/src/platform/a.ts', "import type { Partner } from '../partner/port.ts'", /may not import/],
  ['packages/server/src/engine/engine.ts', "import { a } from '../modules/ledger/index.ts'", /may not import/],
  [`${module}/ledger/store.ts`, "import { a } from '../balance/index.ts'", /may not import modules\/balance/],
  [`${module}/ledger/store.ts`, "import { a } from '../../engine/engine.ts'", /may not import server\/engine/],
  [`${module}/cash-out/commands.ts`, "import { a } from '../cash-in/index.ts'", /may not import modules\/cash-in/],
  [`${module}/cash-in/commands.ts`, "import { a } from '../refund-in/index.ts'", /may not import modules\/refund-in/],
  [`${module}/refund-in/commands.ts`, "import { a } from '../cash-in/commands.ts'", /by its index\.ts/],
  [`${module}/cash-in/commands.ts`, "import { send } from '../../partner/port.ts'", /only jobs\.ts/],
  [`${module}/cash-in/commands.ts`, "import type { Partner } from '../../partner/port.ts'", /only jobs\.ts/],
  [`${module}/cash-in/rules.ts`, "import { type Payment, send } from '../../partner/port.ts'", /only jobs\.ts/],
  [
    `${module}/cash-in/commands.ts`,
    "import { type Statement, statement } from '../../platform/db/database.ts'",
    /SQL belongs in a store/,
  ],
  [
    'packages/server/test/modules/cash-in.test.ts',
    "import { statement } from '../../src/platform/db/database.ts'",
    /SQL belongs in a store/,
  ],
  [`${module}/cash-in/view.ts`, "import { load } from '../../compose.ts'", /may not import server\/compose\.ts/],
  [`${module}/cash-in/view.ts`, "const { a } = await import('../webhooks/index.ts')", /may not import modules/],
  [`${module}/cash-in/view.ts`, "import '../webhooks/index.ts'", /may not import modules/],
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
