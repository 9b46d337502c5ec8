import { connect } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import type { Chance } from './chance.ts'
import { type Answer, readAnswer } from './connection.ts'

/** Bytes that are no HTTP, or that two servers might read differently. */
export interface MalformedRequest {
  readonly name: string
  /** What is written at a time. */
  readonly slices: readonly Buffer[]
  /** The statuses of its answers, one after the other; `undefined`: at most so many answers, none of them a success. */
  readonly statuses: readonly number[]
  readonly isOpen?: true
}

/** What came back, and whether the server closed the connection by itself. */
interface Exchange {
  readonly received: Buffer
  readonly isClosed: boolean
}

const HOST = 'Host: gateway.example'
const GET = 'GET /healthz HTTP/1.1'
const POST = 'POST /api-key/generate HTTP/1.1'
/** What a front server would take for a body and a back server for a second request. */
const HIDDEN = `GET /public-key HTTP/1.1\r\n${HOST}\r\n\r\n`

function text(...lines: readonly string[]): string {
  return `${lines.join('\r\n')}\r\n\r\n`
}

/** Each is answered 400, once, and its connection is closed. */
const AMBIGUOUS: Readonly<Record<string, string>> = {
  'two Hosts': text(GET, HOST, 'Host: evil.example'),
  'no Host': text(GET),
  'HTTP/1.0': text('GET /healthz HTTP/1.0', HOST),
  'HTTP/0.9': 'GET /healthz\r\n\r\n',
  'HTTP/1.2': text('GET /healthz HTTP/1.2', HOST),
  'HTTP/2.0': text('GET /healthz HTTP/2.0', HOST),
  'a preface of HTTP/2': 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  'an absolute target': text('GET http://evil.example/healthz HTTP/1.1', HOST),
  'an asterisk': text('OPTIONS * HTTP/1.1', HOST),
  'a target with a space': text('GET /healthz x HTTP/1.1', HOST),
  'a target without a slash': text('GET healthz HTTP/1.1', HOST),
  'a method in lower case': text('get /healthz HTTP/1.1', HOST),
  'a method that is none': text('HELLO /healthz HTTP/1.1', HOST),
  'two lengths': text(POST, HOST, `Content-Length: ${HIDDEN.length}`, 'Content-Length: 0') + HIDDEN,
  'the same length twice': text(POST, HOST, 'Content-Length: 0', 'Content-Length: 0') + HIDDEN,
  'lengths in a list': text(POST, HOST, `Content-Length: 0, ${HIDDEN.length}`) + HIDDEN,
  'a length with a sign': text(POST, HOST, 'Content-Length: +5') + HIDDEN,
  'a negative length': text(POST, HOST, 'Content-Length: -1') + HIDDEN,
  'a hexadecimal length': text(POST, HOST, 'Content-Length: 0x5') + HIDDEN,
  'a length beyond all numbers': text(POST, HOST, 'Content-Length: 18446744073709551616') + HIDDEN,
  'an empty length': text(POST, HOST, 'Content-Length:') + HIDDEN,
  'length and chunks': `${text(POST, HOST, `Content-Length: ${HIDDEN.length + 5}`, 'Transfer-Encoding: chunked')}0\r\n\r\n${HIDDEN}`,
  'chunks and length': `${text(POST, HOST, 'Transfer-Encoding: chunked', 'Content-Length: 5')}0\r\n\r\n${HIDDEN}`,
  'two encodings': `${text(POST, HOST, 'Transfer-Encoding: chunked', 'Transfer-Encoding: chunked')}0\r\n\r\n${HIDDEN}`,
  'an encoding that is none': text(POST, HOST, 'Transfer-Encoding: xchunked') + HIDDEN,
  'chunked, but not last': `${text(POST, HOST, 'Transfer-Encoding: chunked, identity')}0\r\n\r\n${HIDDEN}`,
  'an encoding with a vertical tab': `${text(POST, HOST, 'Transfer-Encoding: \vchunked')}0\r\n\r\n${HIDDEN}`,
  'a space before the colon': `${text(POST, HOST, 'Transfer-Encoding : chunked')}0\r\n\r\n${HIDDEN}`,
  'a name with a NUL': text(GET, HOST, 'X-\0A: b'),
  'a value with a NUL': text(GET, HOST, 'X-A: b\0c'),
  'a value with a carriage return': text(GET, HOST, 'X-A: b\rc'),
  'a line without a colon': text(GET, HOST, 'X-A'),
  'a name that is none': text(GET, HOST, ': x'),
  'a folded line': text(GET, HOST, 'X-A: b', ' c'),
  'a first line that is folded': text(GET, ` ${HOST}`),
  'ends of lines without carriage returns': `${GET}\n${HOST}\n\n`,
  'ends of lines without line feeds': `${GET}\r${HOST}\r\r`,
  'a handshake of TLS': '\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\u00fc\u0003\u0003\r\n\r\n',
  'no HTTP': 'hello\r\n\r\n',
}

/** Chunks of a body that the partner's endpoint reads; each is refused with 400, whether in the head or while it is read. */
const BAD_CHUNKS: Readonly<Record<string, string>> = {
  'a size that is none': 'zz\r\nhello\r\n0\r\n\r\n',
  'a negative size': '-5\r\nhello\r\n0\r\n\r\n',
  'a size beyond all numbers': 'fffffffffffffffff\r\nhello\r\n0\r\n\r\n',
  'a chunk that is too long': '3\r\nhello\r\n0\r\n\r\n',
  'a chunk without its end': '5\r\nhello0\r\n\r\n',
  'an extension with a line feed': '5;a\nb\r\nhello\r\n0\r\n\r\n',
  'line feeds only': '5\nhello\n0\n\n',
}

const CHUNKED = text('POST /api/webhooks/pix/cash-in HTTP/1.1', HOST, 'Transfer-Encoding: chunked')

/** One of the malformed requests. */
export function malformedRequest(chance: Chance): MalformedRequest {
  return chance.pick([
    ambiguous,
    ambiguous,
    ambiguous,
    badChunks,
    tooLong,
    cutShort,
    randomBytes,
    damaged,
    pipelined,
    sliced,
  ])(chance)
}

type Maker = (chance: Chance) => MalformedRequest

const ambiguous: Maker = (chance) => {
  const [name, request] = chance.pick(Object.entries(AMBIGUOUS))
  return { name, slices: [bytesOf(request)], statuses: [400] }
}

const badChunks: Maker = (chance) => {
  const [name, chunks] = chance.pick(Object.entries(BAD_CHUNKS))
  return { name, slices: [bytesOf(CHUNKED + chunks + HIDDEN)], statuses: [400] }
}

const tooLong: Maker = (chance) => {
  const line = chance.pick([
    `X-A: ${'x'.repeat(17_000)}`,
    ...[300, 3_000].map((count) =>
      Array(count)
        .fill(`X-A: ${'x'.repeat(60)}`)
        .join('\r\n'),
    ),
  ])
  return { name: 'a head that is too long', slices: [bytesOf(text(GET, HOST, line))], statuses: [431] }
}

const cutShort: Maker = (chance) => {
  const whole = `${text(POST, HOST, 'Content-Length: 100')}{"a":`
  return {
    name: 'cut short',
    slices: [bytesOf(whole.slice(0, chance.below(whole.length)))],
    statuses: [401],
    isOpen: true,
  }
}

const randomBytes: Maker = (chance) => {
  const bytes = Buffer.from(Array.from({ length: 1 + chance.below(300) }, () => chance.below(256)))
  return { name: 'random bytes', slices: [bytes], statuses: [400], isOpen: true }
}

const damaged: Maker = (chance) => {
  const bytes = bytesOf(`${text(GET, HOST, 'X-A: b', 'Content-Length: 3')}abc`)
  const at = chance.below(bytes.length)
  const damage = Buffer.from(chance.pick([[], [chance.below(256)], [13, 10], [0], [32], [58]]))
  return {
    name: 'a damaged byte',
    slices: [Buffer.concat([bytes.subarray(0, at), damage, bytes.subarray(at + chance.below(2))])],
    statuses: [200, 200],
    isOpen: true,
  }
}

const pipelined: Maker = (chance) => {
  const count = 2 + chance.below(20)
  return {
    name: 'one after the other',
    slices: [bytesOf(text(GET, HOST).repeat(count))],
    statuses: Array(count).fill(200),
  }
}

const sliced: Maker = (chance) => {
  const bytes = bytesOf(text(GET, HOST, 'X-A: b'))
  const slices: Buffer[] = []
  for (let at = 0; at < bytes.length; at += slices.at(-1)?.length ?? 1)
    slices.push(bytes.subarray(at, at + 1 + chance.below(9)))
  return { name: 'in slices', slices, statuses: [200] }
}

function bytesOf(request: string): Buffer {
  return Buffer.from(request, 'latin1')
}

/** Sends it, and finds everything that is wrong with what comes back. */
export async function judgeMalformed(
  port: number,
  { name, slices, statuses: due, isOpen }: MalformedRequest,
): Promise<{ readonly statuses: readonly number[]; readonly complaints: readonly string[] }> {
  const { received, isClosed } = await exchange(port, slices)
  const answers = answersIn(received)
  if (answers === undefined) return { statuses: [], complaints: [`${name}: no HTTP: ${received.toString('latin1')}`] }
  const statuses = answers.map(({ status }) => status)
  const isDue = isOpen ? statuses.length <= due.length : statuses.join() === due.join()
  const isLeftOpen = !isOpen && Number(due[0]) >= 400 && !isClosed
  return {
    statuses,
    complaints: [
      ...(isDue ? [] : [`${name}: ${statuses.join() || 'nothing'} instead of ${due}`]),
      ...(isLeftOpen ? [`${name}: the connection was left open`] : []),
      ...answers.flatMap(complaintsAboutAnswer),
    ],
  }
}

function complaintsAboutAnswer({ status, headers, body }: Answer): string[] {
  if (status < 400) return []
  const isProblem = headers.get('content-type') === 'application/problem+json; charset=utf-8'
  return [
    ...(status < 500 ? [] : [`the server failed: ${status}`]),
    ...(isProblem || status === 408 || status === 431 ? [] : [`no problem: ${status} ${body}`]),
    ...(headers.has('x-correlation-id') ? [] : ['no correlation id']),
  ]
}

function answersIn(received: Buffer): Answer[] | undefined {
  const answers: Answer[] = []
  try {
    for (let rest = received; rest.length > 0; ) {
      const found = readAnswer(rest, 'GET')
      if (!found) return undefined
      answers.push(found.answer)
      rest = found.rest
    }
  } catch {
    return undefined
  }
  return answers
}

const QUIET_MS = 300

/** Writes slices and reads until the server closes, or has been quiet for some time. */
async function exchange(port: number, slices: readonly Buffer[]): Promise<Exchange> {
  const socket = connect({ host: '127.0.0.1', port, noDelay: true, allowHalfOpen: true })
  const chunks: Buffer[] = []
  let isQuiet = false
  const ended = new Promise<void>((resolve) => {
    socket.on('data', (chunk: Buffer) => chunks.push(chunk))
    socket.on('error', () => undefined)
    socket.on('end', () => socket.end())
    socket.on('close', () => resolve())
    socket.setTimeout(QUIET_MS, () => {
      isQuiet = true
      socket.destroy()
    })
  })
  for (const slice of slices) {
    socket.write(slice)
    await setImmediate()
  }
  await ended
  return { received: Buffer.concat(chunks), isClosed: !isQuiet }
}
