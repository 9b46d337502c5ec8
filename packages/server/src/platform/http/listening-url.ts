import type { Server } from 'node:http'

/** Where this machine reaches what listens there: every address of the machine is reached by loopback. */
export function urlOf({ host, port }: { readonly host: string; readonly port: number }): string {
  if (host === '0.0.0.0' || host === '::') return `http://127.0.0.1:${port}`
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}

/** Where this machine reaches a server; nothing where it listens on no port. */
export function listeningUrl(server: Pick<Server, 'address'>): string | undefined {
  const address = server.address()
  if (address === null || typeof address === 'string') return undefined
  return urlOf({ host: address.address, port: address.port })
}
