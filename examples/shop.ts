import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Pixgate } from '@pixgate/sdk'
import { PixgateOperator } from '@pixgate/sdk/operator'
import { follow, reconcile } from './shop/pix.ts'
import { askOpen, openShop, weekBefore } from './shop/shop.ts'

/**
 * `npm run shop`, beside `npm start`: a store whose orders are paid with Pix. `PIXGATE_API_KEY` is a key with the scopes
 * `charge`, `refund`, `read` and `webhook`; without one the shop makes one with the admin token of the sandbox.
 */

const { env } = process
const url = env.PIXGATE_URL ?? 'http://127.0.0.1:8080'
const [MINUTE_MS, DAY_MS, NIGHT_MS] = [60_000, 86_400_000, 6 * 3_600_000]

if (!(await fetch(`${url}/healthz`).catch(() => undefined))?.ok) {
  console.error(`${url} does not answer: run npm start in another terminal, or set PIXGATE_URL`)
  process.exit(1)
}

async function sandboxKey(): Promise<string> {
  const secrets = await readFile(join(env.PIXGATE_DATA_DIR ?? '.pixgate', 'sandbox-secrets.json'), 'utf8')
  const operator = new PixgateOperator({ url, token: JSON.parse(secrets).adminToken })
  const scopes = ['charge', 'refund', 'read', 'webhook'] as const
  return (await operator.apiKeys.create({ name: 'shop', scopes })).apiKey
}

// A webhook must be answered in five seconds, a customer sooner.
const pixgate = new Pixgate({
  url,
  apiKey: env.PIXGATE_API_KEY ?? (await sandboxKey()),
  timeoutMs: 4_000,
  maxRetries: 0,
})
const shop = await openShop({
  pixgate,
  file: env.SHOP_DATABASE ?? 'shop.db',
  port: Number(env.SHOP_PORT ?? 3_000),
  url: env.SHOP_URL,
})
console.log(shop.url)

const stop = new AbortController()
const following = follow(shop, stop.signal)
const asking = setInterval(() => void askOpen(shop, new Date().toISOString()), MINUTE_MS)

/** At 3 in the morning in Brasília. */
function reconcileNightly(): NodeJS.Timeout {
  const sinceNightMs = (Date.now() - NIGHT_MS) % DAY_MS
  return setTimeout(async () => {
    const midnightMs = Date.now() - (Date.now() % DAY_MS)
    const differences = await reconcile(shop, ...weekBefore(midnightMs)).catch((error: unknown) => [error])
    for (const difference of differences) console.error('reconciliation', difference)
    night = reconcileNightly()
  }, DAY_MS - sinceNightMs)
}
let night = reconcileNightly()

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, async () => {
    clearInterval(asking)
    clearTimeout(night)
    stop.abort()
    await following
    await shop.close()
  })
}
