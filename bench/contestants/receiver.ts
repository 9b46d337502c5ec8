import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { onMessages } from '../wire.ts'

/**
 * A merchant's server that does nothing but say «received». It tells where it is, and whenever it is sent a number, when each
 * of the next so many messages came, in milliseconds.
 */

let arrivalsMs: number[] = []
let awaited = Number.POSITIVE_INFINITY

const receiver = createServer({ noDelay: true }, (socket) => {
  socket.on('error', () => socket.destroy())
  onMessages(socket, () => {
    socket.write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n')
    arrivalsMs.push(performance.now())
    if (arrivalsMs.length < awaited) return
    process.send?.(arrivalsMs)
    awaited = Number.POSITIVE_INFINITY
  })
})

process.on('message', (count: number) => {
  arrivalsMs = []
  awaited = count
})
process.once('disconnect', () => process.exit())
receiver.listen(0, '127.0.0.1')
await once(receiver, 'listening')
process.send?.(`http://127.0.0.1:${(receiver.address() as AddressInfo).port}`)
