import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Chance } from '../fuzz/chance.ts'

/** A merchant's server that is not always there. */
export interface Receiver {
  readonly url: string
  /** The bodies that came under each id, every one that differs from the others. */
  readonly received: ReadonlyMap<string, ReadonlySet<string>>
  /** From now on every attempt is answered 200. */
  behave(): void
  close(): Promise<void>
}

/** Starts it. It answers as chance has it: mostly 200, at times 500, late, or never. */
export async function startReceiver(chance: Chance): Promise<Receiver> {
  const received = new Map<string, Set<string>>()
  let isGood = false
  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray()).toString()
    const id = String(request.headers['webhook-id'])
    received.set(id, (received.get(id) ?? new Set()).add(body))
    const drawn = isGood ? 0 : chance.below(100)
    if (drawn < 90) response.end()
    else if (drawn < 97) response.writeHead(500).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    behave: () => {
      isGood = true
    },
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
    },
  }
}
