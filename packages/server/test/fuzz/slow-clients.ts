import { connect } from 'node:net'
import { text as readText } from 'node:stream/consumers'

const HOST = 'Host: gateway.example'

/** What a client sends before it falls silent. */
const BEGINNINGS = [
  '',
  'GET /heal',
  `GET /healthz HTTP/1.1\r\n${HOST}\r\nX-A: `,
  `POST /api/webhooks/pix/cash-in HTTP/1.1\r\n${HOST}\r\nContent-Length: 100\r\n\r\n{"event":`,
  `POST /api/webhooks/pix/cash-in HTTP/1.1\r\n${HOST}\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{`,
]

/** More than any of them is given. */
const PATIENCE_MS = 25_000

/** Sends them all at the same time; each that is not let go with a 408 is a complaint. */
export async function complaintsAboutSlowClients(port: number): Promise<string[]> {
  const complaints = await Promise.all(
    BEGINNINGS.map(async (beginning) => {
      const socket = connect({ host: '127.0.0.1', port, signal: AbortSignal.timeout(PATIENCE_MS) })
      socket.write(beginning)
      const answer = await readText(socket).catch(String)
      return answer.startsWith('HTTP/1.1 408 ') ? [] : [`a slow client was not let go:\n${beginning}\n→ ${answer}`]
    }),
  )
  return complaints.flat()
}
