import { setTimeout as delay } from 'node:timers/promises'

/**
 * Open consoles: each waits for changes, and reads the overview and the list of payments again, at most once a second, as
 * packages/console/src/live.ts does.
 */

const LISTS_MS = 1_000

const [url = '', token = '', count = '1'] = process.argv.slice(2)
const headers = { authorization: `Bearer ${token}`, 'x-pixgate-console': 'background' }

async function read(path: string): Promise<{ readonly cursor?: string }> {
  const response = await fetch(`${url}${path}`, { headers })
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
  return response.json() as Promise<{ cursor?: string }>
}

async function show(): Promise<void> {
  let { cursor } = await read('/operator/changes')
  for (;;) {
    const next = delay(LISTS_MS)
    await Promise.all(['/operator/overview', '/operator/operations?limit=50'].map(read))
    cursor = (await read(`/operator/changes?wait=20&cursor=${cursor}`)).cursor
    await next
  }
}

process.once('disconnect', () => process.exit())
const shown = Array.from({ length: Number(count) }, show)
process.send?.('ready')
await Promise.all(shown)
