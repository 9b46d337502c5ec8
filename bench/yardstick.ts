import type { After } from './benchmark.ts'
import { chargeMaker } from './charges.ts'
import { openClient } from './http-client.ts'
import { startServer } from './server-process.ts'

/** Starts the yardstick of everything over HTTP, a bare Fastify server. @returns posts one charge that nobody makes */
export async function startYardstick(after: After): Promise<() => Promise<string>> {
  const { url } = await startServer(after, ['node', 'bench/contestants/bare-fastify.ts'])
  return chargeMaker(openClient(after, url), 'none')
}
