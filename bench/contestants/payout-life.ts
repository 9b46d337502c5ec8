import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Cost, CostRequest } from '../compare-engine.ts'
import type { openEngine } from './engine.ts'
import type { fund } from './reserve.ts'

/**
 * The engine's part of a payout's life, with the modules of a given checkout: created, claimed, accepted, confirmed. It tells
 * what that costs this process; whoever asked looks at the database.
 */

const [root = '', url = ''] = process.argv.slice(2)

/** The same modules as here, in another checkout. */
async function load<Module>(path: string): Promise<Module> {
  return import(join(root, path))
}

const engines = await load<typeof import('./engine.ts')>('bench/contestants/engine.ts')
const funds = await load<typeof import('./reserve.ts')>('bench/contestants/reserve.ts')
const commands = await load<typeof import('../../packages/server/src/cash-out/commands.ts')>(
  // Where it stood in older checkouts.
  ['packages/server/src/cash-out/commands.ts', 'packages/server/src/modules/cash-out/commands.ts'].find((path) =>
    existsSync(join(root, path)),
  ) ?? '',
)

const { engine, ids } = (engines.openEngine as typeof openEngine)(url)
await engine.execute((funds.fund as typeof fund)())
/** More than is paid, so that every limit is looked at and none is met. */
const capCents = 1_000_000_000_00n
const terms = {
  installation: ids.uuid(),
  fee: { cents: 10n, basisPoints: 0n },
  maxValueCents: 100_000_00n,
  limits: {
    caps: {
      paymentCents: capCents,
      hourCents: capCents,
      dayCents: capCents,
      nightCents: capCents,
      newRecipientCents: capCents,
    },
    newRecipientMs: 0,
  },
  approvalFromCents: null,
  // As older checkouts know them.
  cashOutMaxCents: capCents,
  cashOutDailyMaxCents: null,
}
const payouts = commands.createCashOutCommands(engine, terms)

async function live(): Promise<void> {
  const id = ids.uuid()
  const recipient = { name: null, document: null, pixKey: 'joao@example.com', pixKeyType: 'email' } as const
  await payouts.create({
    id,
    valueCents: 1_00n,
    externalId: id,
    exclusiveKey: null,
    correlationId: id,
    idempotencyKey: null,
    madeBy: { caller: 'bench', address: '127.0.0.1' },
    bodyHash: Buffer.alloc(32),
    detail: { description: null, paymentType: 'key', qrCode: null, recipient },
  })
  const occurredAt = Date.now()
  await payouts.apply(id, [{ on: 'send.claimed', leaseMs: 60_000 }])
  await payouts.apply(id, [{ on: 'send.accepted', transactionId: id }])
  const movement = {
    endToEndId: `E${randomUUID()}`,
    valueCents: 1_00n,
    occurredAt,
    feeCents: undefined,
    recipient: null,
  }
  await payouts.apply(id, [{ on: 'partner.confirmed', movement, transactionId: id, isVerified: true }])
}

async function run({ callers, payments }: CostRequest): Promise<Cost> {
  const before = process.cpuUsage()
  let left = payments
  await Promise.all(
    Array.from({ length: callers }, async () => {
      while (left-- > 0) await live()
    }),
  )
  const { user, system } = process.cpuUsage(before)
  return { cpuUs: user + system }
}

process.on('message', async (request: CostRequest) => process.send?.(await run(request)))
process.once('disconnect', () => process.exit())
process.send?.('ready')
