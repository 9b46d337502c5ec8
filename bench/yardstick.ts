import type { After } from './benchmark.ts'
import { openClient, type Send } from './http-client.ts'
import { type ServerProcess, startServer } from './server-process.ts'

/** Starts the yardstick of everything over HTTP, a bare Fastify server: it answers creates, and makes nothing. */
export async function startYardstick(after: After): Promise<Send> {
  return openClient(after, (await startBareFastify(after)).url)
}

/** The same, for who watches its process. */
export function startBareFastify(after: After): Promise<ServerProcess> {
  return startServer(after, ['node', 'bench/contestants/bare-fastify.ts'])
}
