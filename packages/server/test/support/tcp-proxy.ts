import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import type { TestContext } from 'node:test'

/** Which way bytes go: from whoever connected, or back to it. */
export type Direction = 'request' | 'response'

/** What is done with bytes under way: let through, cut both ends off, or thrown away with the ends left hanging. */
export type Fate = 'pass' | 'cut' | 'swallow'

/** A proxy on loopback whose judge sees every piece of bytes before it goes on. */
export interface TcpProxy {
  readonly port: number
  /** The port that new connections lead to. */
  target: number
  /** Decides the fate of each piece; everything passes until a test says otherwise. `connection` counts from 1. */
  judge: (direction: Direction, bytes: Buffer, connection: number) => Fate | Promise<Fate>
  /** Cuts every connection there is now. */
  cutAll(): void
  /** Cuts off whoever connected: what is under way still arrives at the other end. */
  cutClients(): void
}

/** Starts a proxy in front of a port; it goes with the test. */
export async function tcpProxy(t: Pick<TestContext, 'after'>, target: number): Promise<TcpProxy> {
  const sockets = new Set<Socket>()
  const clients = new Set<Socket>()
  const cutAll = () => {
    for (const socket of sockets) socket.destroy()
  }
  const cutClients = () => {
    for (const socket of clients) socket.destroy()
  }
  const proxy: TcpProxy & { port: number } = { port: 0, target, judge: () => 'pass', cutAll, cutClients }

  function pipe(from: Socket, to: Socket, direction: Direction, connection: number): void {
    let order = Promise.resolve()
    from.on('data', (bytes) => {
      order = order.then(async () => {
        const fate = await proxy.judge(direction, bytes as Buffer, connection)
        if (fate === 'pass' && to.writable) to.write(bytes)
        if (fate === 'cut') {
          from.destroy()
          to.destroy()
        }
      })
    })
    from.on('end', () => {
      order = order.then(() => {
        to.end()
      })
    })
    from.on('error', () => to.destroy())
    from.on('close', () => {
      sockets.delete(from)
      order.then(() => to.destroy())
    })
  }

  let connections = 0
  const server = createServer((client) => {
    connections += 1
    const server = connect(proxy.target, '127.0.0.1')
    for (const socket of [client, server]) sockets.add(socket)
    clients.add(client)
    client.on('close', () => clients.delete(client))
    pipe(client, server, 'request', connections)
    pipe(server, client, 'response', connections)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (typeof address !== 'object' || address === null) throw new Error('the proxy listens on no port')
  proxy.port = address.port
  t.after(() => {
    cutAll()
    server.close()
  })
  return proxy
}

/** An address that leads through a proxy; plain HTTP unless it is one already. */
export function through({ port }: TcpProxy, address = 'http://127.0.0.1'): string {
  const url = new URL(address)
  url.port = String(port)
  return url.href.replace(/\/$/, '')
}

/** How a world reaches its database by way of a proxy that judges so. */
export function reachJudged(t: TestContext, judge: TcpProxy['judge']): (databaseUrl: string) => Promise<string> {
  return async (databaseUrl) => {
    const proxy = await tcpProxy(t, Number(new URL(databaseUrl).port))
    proxy.judge = judge
    return through(proxy, databaseUrl)
  }
}
