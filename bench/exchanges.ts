import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { receiveCashOutEvent } from '@pixgate/spec'
import type { After } from './benchmark.ts'
import type { Callers } from './callers.ts'
import { type ServerProcess, startServer } from './server-process.ts'
import { onMessages, openWire } from './wire.ts'

/** What a bank tells of a payout. */
export interface BankEvent {
  readonly externalId: string
  readonly endToEndId: string
}

const EVENTS_SECRET = 'known to both'

/**
 * Starts a server that has a payout's four exchanges over HTTP and does nothing else, and a bank that tells at once what became of
 * each order. It says what a payout would cost if everything that Pixgate does cost nothing.
 * @param callers whose receiver is notified
 */
export async function startExchanges(after: After, callers: Callers): Promise<ServerProcess> {
  const bank = createServer({ noDelay: true }, (socket) => {
    socket.on('error', () => socket.destroy())
    onMessages(socket, (_head, order) => {
      socket.write('HTTP/1.1 202 Accepted\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}')
      wire.send(eventOf(JSON.parse(order)))
    })
  })
  bank.listen(0, '127.0.0.1')
  await once(bank, 'listening')
  after(async () => void bank.close())
  const { port } = bank.address() as AddressInfo
  const server = await startServer(after, ['node', 'bench/contestants/exchanges.ts'], {
    BANK_URL: `http://127.0.0.1:${port}`,
    RECEIVER_URL: callers.receiver,
    EVENTS_SECRET,
  })
  const wire = openWire(server.url)
  after(async () => wire.close())
  return server
}

function eventOf({ externalId }: BankEvent) {
  const event: BankEvent = { externalId, endToEndId: receiveCashOutEvent.example.endToEndId }
  const body = JSON.stringify({ ...receiveCashOutEvent.example, ...event })
  const signature = createHmac('sha256', EVENTS_SECRET).update(body).digest('hex')
  const headers = `host: 127.0.0.1\r\nx-partner-signature: ${signature}\r\n`
  return { method: 'POST', path: receiveCashOutEvent.path, headers, body } as const
}
