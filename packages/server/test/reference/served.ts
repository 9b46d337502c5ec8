import type { TestContext } from 'node:test'
import { type Endpoint, endpoints, serviceEndpoints } from '@pixgate/spec'
import { listeningUrl } from '../../src/platform/http/server.ts'
import { createReferenceRoutes } from '../../src/reference/index.ts'
import { listen, thingServer } from '../platform/http/thing-server.ts'

/** A server whose pages describe what the service answers, in the sandbox or in production. */
export async function served(t: TestContext, isSandbox = true, operatorUrl?: string) {
  const table: Readonly<Record<string, Endpoint>> = isSandbox ? endpoints : serviceEndpoints
  const added = createReferenceRoutes({
    endpoints: Object.values(table),
    isSandbox,
    url: () => listeningUrl(app.server),
    operatorUrl: operatorUrl === undefined ? undefined : () => operatorUrl,
  })
  const { app, log }: ReturnType<typeof thingServer> = thingServer(t, { added })
  const url = `http://127.0.0.1:${await listen(app)}`
  const read = async (path: string, init: RequestInit = {}) => {
    const response = await fetch(url + path, init)
    return { status: response.status, headers: response.headers, text: await response.text() }
  }
  return { url, read, log }
}
