import type { AddressInfo } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { MERCHANT } from '../account-holders.ts'
import type { Bank } from '../bank.ts'
import { CallbackSender } from './callbacks.ts'
import { type CertificateFiles, type CertificateOptions, type Certificates, certificatesIn } from './certificates.ts'
import { payloadRoutes } from './payload-routes.ts'
import { apiPixApp, createApiPixServer, type Exchange } from './server.ts'
import type { Client } from './tokens.ts'

/** Options of the API Pix listeners. */
export interface ApiPixOptions extends CertificateOptions {
  /** 0: any free port. */
  readonly port: number
  /** Port of the listener that serves charge locations; 0, the default: any free port. */
  readonly payloadPort?: number
  /** Directory of the certificates; missing ones are created. */
  readonly certificatesDirectory: string
  readonly client: Client
  /** Path before those of the standard, such as `/pix`; none by default. */
  readonly pathPrefix?: string
  /** Pix keys of the account; only its CNPJ by default. */
  readonly keys?: readonly string[]
  /** PEM of a CA to trust for webhook receivers, besides Node's default CAs and the bank's own. */
  readonly callbackCa?: string
  /** Called with each request and its response, for example to check them against the specification. */
  readonly onExchange?: (exchange: Exchange) => void
}

/** The running API Pix listeners. */
export interface ApiPix {
  /** Base URL, with the path prefix. */
  readonly url: string
  readonly port: number
  /** Base URL of the charge locations, without a path. */
  readonly payloadUrl: string
  readonly keys: readonly string[]
  readonly certificates: Certificates
  readonly files: CertificateFiles
}

/**
 * Creates missing certificates and listens.
 * @throws Error if a port is taken or the directory cannot be used
 */
export async function startApiPix(
  bank: Bank,
  options: ApiPixOptions,
  host: string,
  warn: (message: string) => void,
): Promise<{ readonly listening: ApiPix; stop(): Promise<void> }> {
  const { client, pathPrefix = '', keys = [MERCHANT.document], callbackCa, onExchange } = options
  const certificates = await certificatesIn(options.certificatesDirectory, options)
  const { server: own, signature, files } = certificates
  const sender = new CallbackSender({ bank, certificates, trusted: callbackCa, warn })
  const server = createApiPixServer({ bank, keys }, { certificates, client, pathPrefix, sender, onExchange, warn })
  const payloads = apiPixApp(bank, { cert: own.certificate, key: own.key }, warn)
  payloadRoutes(payloads, bank, signature)
  async function stop(): Promise<void> {
    await Promise.all([server.close(), payloads.close()])
    await sender.stop()
  }

  try {
    const [port, payloadPort] = [
      await listen(server, host, options.port),
      await listen(payloads, host, options.payloadPort ?? 0),
    ]
    bank.book.onNotice((notice) => sender.deliver(notice))
    const url = `https://localhost:${port}${pathPrefix}`
    const payloadUrl = `https://localhost:${payloadPort}`
    return { listening: { url, port, payloadUrl, keys, certificates, files }, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

async function listen(server: FastifyInstance, host: string, port: number): Promise<number> {
  await server.listen({ host, port })
  return (server.server.address() as AddressInfo).port
}
