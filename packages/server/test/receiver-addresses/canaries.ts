import { once } from 'node:events'
import { type AddressInfo, createServer, type Server } from 'node:net'

/** Listeners at every address of this machine, which nobody must reach. */
export interface Canaries {
  /** Some of them any, and those of http and https where this user may listen there. */
  readonly ports: readonly number[]
  /** How often one was connected to. */
  connections(): number
  close(): Promise<void>
}

/** Ports that addresses without one lead to, and any other two. */
const WANTED = [0, 0, 443, 80]

/** Starts them. */
export async function startCanaries(): Promise<Canaries> {
  let connections = 0
  const started = await Promise.all(
    WANTED.map((port) => {
      const server = createServer((socket) => {
        connections += 1
        socket.on('error', () => undefined).destroy()
      })
      return listening(server, port)
    }),
  )
  const servers = started.filter((server) => server !== undefined)
  return {
    ports: servers.map((server) => (server.address() as AddressInfo).port),
    connections: () => connections,
    close: async () => {
      await Promise.all(servers.map((server) => once(server.close(), 'close')))
    },
  }
}

/** Where this user may not listen, or somebody else does, there is none. */
async function listening(server: Server, port: number): Promise<Server | undefined> {
  try {
    await once(server.listen(port), 'listening')
    return server
  } catch {
    return undefined
  }
}
