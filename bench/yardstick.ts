import type { After } from './benchmark.ts'
import { openClient, type Send } from './http-client.ts'
import { startServer } from './server-process.ts'

/** Starts the yardstick of everything over HTTP, a bare Fastify server: it answers creates, and makes nothing. */
export async function startYardstick(after: After): Promise<Send> {
  const { url } = await startServer(after, ['node', 'bench/contestants/bare-fastify.ts'])
  return openClient(after, url)
}
