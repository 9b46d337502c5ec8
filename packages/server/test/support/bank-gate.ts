import { once } from 'node:events'
import { createServer as createHttpsServer } from 'node:https'
import { type AddressInfo, createServer, type Server } from 'node:net'
import type { TestContext } from 'node:test'
import { type ApiPix, createAuthority } from '@pixgate/bank-simulator'
import { type TcpProxy, tcpProxy, through } from './tcp-proxy.ts'

/** A bank of the standard that lets nobody in for a while: what stands in its place does not come to terms on TLS. */

/** Makes what a service then finds at the bank's address. */
export type Refuser = (apiPix: ApiPix) => Promise<Server>

/** The way to a bank. */
export interface BankGate {
  /** For a world: leads to its bank until the gate is shut. */
  readonly reachBank: (apiPix: ApiPix) => string
  /** From now on connections lead to the refuser; those that there are end. */
  shut(): Promise<void>
  /** They lead to the bank again. */
  open(): void
}

/** Builds it; it goes with the test. */
export async function bankGate(t: TestContext, refuser: Refuser): Promise<BankGate> {
  const proxy = await tcpProxy(t, 0)
  let bank: ApiPix | undefined
  const lead = (way: TcpProxy, port: number) => {
    way.target = port
    way.cutAll()
  }
  return {
    reachBank: (apiPix) => {
      bank = apiPix
      lead(proxy, apiPix.port)
      return through(proxy, apiPix.url)
    },
    shut: async () => {
      if (!bank) throw new Error('no world has its bank behind this gate')
      const server = await refuser(bank)
      await once(server.listen(0, '127.0.0.1'), 'listening')
      t.after(() => server.close())
      lead(proxy, (server.address() as AddressInfo).port)
    },
    open: () => lead(proxy, bank?.port ?? 0),
  }
}

/** Hangs up before a word of TLS. */
export const hangingUp: Refuser = async () => createServer((socket) => socket.destroy())

/** Answers the first word of TLS by a fatal alert, such as 48 (RFC 8446): the authority is unknown. */
export function alerting(alert: number): Refuser {
  return async () =>
    createServer((socket) => {
      socket.on('error', () => socket.destroy())
      socket.once('data', () => socket.end(Buffer.from([0x15, 3, 3, 0, 2, 2, alert])))
    })
}

/** Takes the connection, and hangs up once it has seen our certificate: in TLS 1.3 our side has agreed by then. */
export const hangingUpAfterwards: Refuser = async ({ certificates: { server } }) => {
  const { certificate: ca } = await createAuthority('somebody else')
  return createHttpsServer({
    cert: server.certificate,
    key: server.key,
    ca,
    requestCert: true,
    rejectUnauthorized: true,
    minVersion: 'TLSv1.3',
  })
}

/** Shows a certificate of the bank's that ended yesterday. */
export const ended: Refuser = async ({ certificates: { authority, server } }) => {
  const { from, to } = PAST
  const own = await authority.issue({
    name: 'localhost',
    use: 'server',
    hosts: ['localhost'],
    notBefore: from,
    notAfter: to,
  })
  return createHttpsServer({ cert: own.certificate, key: own.key, ca: server.certificate })
}

const PAST = { from: new Date('2020-01-01T00:00:00Z'), to: new Date('2020-01-02T00:00:00Z') }

/** Shows a certificate of an authority that nobody here trusts. */
export const stranger: Refuser = async () => {
  const authority = await createAuthority('somebody else')
  const own = await authority.issue({ name: 'localhost', use: 'server', hosts: ['localhost'] })
  return createHttpsServer({ cert: own.certificate, key: own.key })
}
