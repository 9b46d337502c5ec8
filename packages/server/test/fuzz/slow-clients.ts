import { connect } from 'node:net'
import { text as readText } from 'node:stream/consumers'

const HOST = 'Host: gateway.example'

/** What a client sends before it falls silent, and the status it is let go with; `undefined`: without a word. */
const BEGINNINGS: readonly (readonly [beginning: string, status: number | undefined])[] = [
  ['', undefined],
  ['GET /heal', 408],
  [`GET /healthz HTTP/1.1\r\n${HOST}\r\nX-A: `, 408],
  [`POST /api/webhooks/pix/cash-in HTTP/1.1\r\n${HOST}\r\nContent-Length: 100\r\n\r\n{"event":`, 408],
  [`POST /api/webhooks/pix/cash-in HTTP/1.1\r\n${HOST}\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{`, 408],
]

/** More than any of them is given. */
const PATIENCE_MS = 25_000

/** Sends them all at the same time, and finds what is wrong with how the server gets rid of them. */
export async function complaintsAboutSlowClients(port: number): Promise<string[]> {
  const complaints = await Promise.all(
    BEGINNINGS.map(async ([beginning, status]) => {
      const socket = connect({ host: '127.0.0.1', port, signal: AbortSignal.timeout(PATIENCE_MS) })
      socket.write(beginning)
      const answer = await readText(socket).catch(() => 'patience')
      const told = /^HTTP\/1\.1 (\d+)/.exec(answer)?.[1]
      const isDue = answer === '' ? status === undefined : told === String(status)
      return isDue ? [] : [`a slow client was not let go as it should be:\n${beginning}\n→ ${answer}`]
    }),
  )
  return complaints.flat()
}
