import { once } from 'node:events'
import { createServer } from 'node:net'
import { StartupError } from './startup-error.ts'

/** Tries to listen on a port of a host; 0 asks for any. @returns the port, or `undefined` when it is taken */
export async function probePort(port: number, host = '127.0.0.1'): Promise<number | undefined> {
  const server = createServer().unref()
  try {
    server.listen(port, host)
    await once(server, 'listening')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') return undefined
    throw error
  }
  const address = server.address()
  server.close()
  await once(server, 'close')
  return typeof address === 'object' && address !== null ? address.port : undefined
}

/**
 * Explains why an address cannot be listened on, naming the setting to change. Other errors are returned unchanged.
 * @param setting name of the setting with the port
 */
export function listeningError(
  error: unknown,
  { host, port }: { readonly host: string; readonly port: number },
  setting: string,
): unknown {
  const message = {
    EADDRNOTAVAIL: `HOST is ${host}, which is no address of this machine`,
    ENOTFOUND: `HOST is ${host}, which is a name that does not resolve`,
    EAI_AGAIN: `HOST is ${host}, which is a name that cannot be resolved right now`,
    EACCES: `port ${port} is not for this user to listen on; set ${setting} to another one`,
    EADDRINUSE: `port ${port} is taken; set ${setting} to another one`,
  }[(error as NodeJS.ErrnoException).code ?? '']
  return message === undefined ? error : new StartupError(message, { cause: error })
}

const PORT_MAX = 65_535

/** The first free loopback port from `first` upwards. @throws Error when none is free */
export async function freePort(first: number): Promise<number> {
  for (let port = first; port <= PORT_MAX; port++) {
    const free = await probePort(port)
    if (free !== undefined) return free
  }
  throw new Error(`no free port from ${first} upwards`)
}
