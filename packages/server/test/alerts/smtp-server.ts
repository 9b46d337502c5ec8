import { once } from 'node:events'
import type { AddressInfo, Socket } from 'node:net'
import { createServer } from 'node:net'
import type { TestContext } from 'node:test'
import { createServer as createTlsServer } from 'node:tls'
import type { Certificate } from '../support/certificates.ts'

/** A mail as the server took it. */
export interface Mail {
  readonly to: string
  readonly messageId: string
  readonly subject: string
  /** With its headers, decoded. */
  readonly text: string
}

export interface SmtpServer {
  readonly port: number
  readonly mails: readonly Mail[]
  /** It takes no mail for these addresses, or for any. */
  refuses: readonly string[] | 'all'
  /** At this line it says nothing any more, or a byte now and then without an end. */
  stalls: { readonly at: 'greeting' | 'taken'; readonly drips: boolean } | undefined
  /** Resolves when it has no connection. */
  abandoned(): Promise<void>
}

/** A mail server on loopback that knows as much of SMTP as a client needs. */
export async function startSmtpServer(t: TestContext, certificate?: Certificate): Promise<SmtpServer> {
  const mails: Mail[] = []
  const sockets = new Set<Socket>()
  const smtp: SmtpServer & { port: number } = {
    ...{ port: 0, mails, refuses: [], stalls: undefined },
    abandoned: async () => {
      await Promise.all([...sockets].map((socket) => once(socket, 'close')))
    },
  }
  const serve = (socket: Socket) => {
    sockets.add(socket.on('error', () => undefined).on('close', () => sockets.delete(socket)))
    let [buffered, to, isData] = ['', '', false]
    const say = (line: string) => {
      if (!smtp.stalls || !line.endsWith(smtp.stalls.at)) socket.write(`${line}\r\n`)
      else if (smtp.stalls.drips) drip(socket)
    }
    const take = (line: string): string => {
      if (isData) {
        isData = false
        mails.push(mailOf(to, line))
        return '250 taken'
      }
      const [verb] = line.toUpperCase().split(' ')
      if (verb === 'RCPT') {
        to = /<(.*)>/.exec(line)?.[1] ?? ''
        return smtp.refuses === 'all' || smtp.refuses.includes(to) ? '451 not now' : '250 ok'
      }
      isData = verb === 'DATA'
      if (isData) return '354 go on'
      if (verb === 'STARTTLS') return '502 not here'
      return verb === 'QUIT' ? '221 bye' : '250 ok'
    }
    say('220 greeting')
    socket.on('data', (chunk) => {
      buffered += chunk.toString('latin1')
      for (;;) {
        const end = isData ? '\r\n.\r\n' : '\r\n'
        const at = buffered.indexOf(end)
        if (at < 0) return
        const line = buffered.slice(0, at)
        buffered = buffered.slice(at + end.length)
        say(take(line))
      }
    })
  }
  const server = certificate ? createTlsServer(certificate, serve) : createServer(serve)
  server.on('tlsClientError', () => undefined)
  t.after(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  smtp.port = (server.address() as AddressInfo).port
  return smtp
}

function drip(socket: Socket): void {
  const timer = setInterval(() => socket.write('2'), 5)
  socket.on('close', () => clearInterval(timer))
}

function mailOf(to: string, raw: string): Mail {
  const text = decoded(raw)
  const headerOf = (name: string) => new RegExp(`^${name}: (.*(?:\\r\\n[ \\t].*)*)`, 'im').exec(text)?.[1] ?? ''
  return { to, messageId: headerOf('message-id'), subject: headerOf('subject').replaceAll(/\r\n[ \t]/g, ''), text }
}

/** Quoted-printable and encoded words, which is all that short texts in two languages become. */
function decoded(raw: string): string {
  const bytesOf = (text: string) =>
    text.replaceAll(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  const words = raw
    .replaceAll(/\?=\s+=\?/g, '?==?')
    .replaceAll(/=\?utf-8\?q\?(.*?)\?=/gi, (_, text: string) => text.replaceAll('_', ' '))
    .replaceAll(/=\?utf-8\?b\?(.*?)\?=/gi, (_, text: string) => Buffer.from(text, 'base64').toString('latin1'))
  return Buffer.from(bytesOf(words.replaceAll('=\r\n', '')), 'latin1').toString()
}
