import type { Chance } from './chance.ts'

/** Bytes that are no HTTP, that two servers might read differently, or that come in an unusual way. */
export interface RawRequest {
  readonly name: string
  /** What is written at a time. */
  readonly slices: readonly Buffer[]
  /** The statuses of its answers, one after the other, or how many answers there are at most. */
  readonly due: readonly number[] | number
}

const HOST = 'Host: gateway.example'
const GET = 'GET /healthz HTTP/1.1'
const POST = 'POST /api-key/generate HTTP/1.1'
/** What a front server would take for a body and a back server for a second request. */
const HIDDEN = `GET /public-key HTTP/1.1\r\n${HOST}\r\n\r\n`
/** The same behind a body in chunks that is empty. */
const ENDED = `0\r\n\r\n${HIDDEN}`

/** Each is answered 400, once, and its connection is closed. */
const AMBIGUOUS: Readonly<Record<string, string>> = {
  'two Hosts': text(GET, HOST, 'Host: evil.example'),
  'no Host': text(GET),
  'HTTP/1.0': text('GET /docs HTTP/1.0', HOST),
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
  'length and chunks': `${text(POST, HOST, `Content-Length: ${ENDED.length}`, 'Transfer-Encoding: chunked')}${ENDED}`,
  'chunks and length': `${text(POST, HOST, 'Transfer-Encoding: chunked', 'Content-Length: 5')}${ENDED}`,
  'two encodings': `${text(POST, HOST, 'Transfer-Encoding: chunked', 'Transfer-Encoding: chunked')}${ENDED}`,
  'an encoding that is none': text(POST, HOST, 'Transfer-Encoding: xchunked') + HIDDEN,
  'chunked, but not last': `${text(POST, HOST, 'Transfer-Encoding: chunked, identity')}${ENDED}`,
  'an encoding with a vertical tab': `${text(POST, HOST, 'Transfer-Encoding: \vchunked')}${ENDED}`,
  'a space before the colon': `${text(POST, HOST, 'Transfer-Encoding : chunked')}${ENDED}`,
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

/** Chunks of a body that is read before anything of it is judged. */
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

/** One of them. */
export function rawRequest(chance: Chance): RawRequest {
  const makers = [ambiguous, ambiguous, ambiguous, badChunks, tooLong, cutShort, noise, damaged, pipelined, sliced]
  return chance.pick(makers)(chance)
}

type Maker = (chance: Chance) => RawRequest

const ambiguous: Maker = (chance) => {
  const [name, request] = chance.pick(Object.entries(AMBIGUOUS))
  return { name, slices: [bytesOf(request)], due: [400] }
}

const badChunks: Maker = (chance) => {
  const [name, chunks] = chance.pick(Object.entries(BAD_CHUNKS))
  return { name, slices: [bytesOf(CHUNKED + chunks + HIDDEN)], due: [400] }
}

const tooLong: Maker = (chance) => {
  const lines = chance.pick([[`X-A: ${'x'.repeat(17_000)}`], Array<string>(101).fill('X-A: x')])
  return { name: 'a head that is too long', slices: [bytesOf(text(GET, HOST, ...lines))], due: [431] }
}

const cutShort: Maker = (chance) => {
  const whole = bytesOf(`${text(POST, HOST, 'Content-Length: 100')}{"a":`)
  return { name: 'cut short', slices: [whole.subarray(0, chance.below(whole.length))], due: 1 }
}

const noise: Maker = (chance) => {
  const bytes = Array.from({ length: 1 + chance.below(300) }, () => chance.below(256))
  return { name: 'noise', slices: [Buffer.from(bytes)], due: 1 }
}

/** The damage may make a second request of the body. */
const damaged: Maker = (chance) => {
  const bytes = bytesOf(`${text(GET, HOST, 'X-A: b', 'Content-Length: 3')}abc`)
  const at = chance.below(bytes.length)
  const damage = Buffer.from(chance.pick([[], [chance.below(256)], [13, 10], [0], [32], [58]]))
  const slices = [bytes.subarray(0, at), damage, bytes.subarray(at + chance.below(2))]
  return { name: 'a damaged byte', slices: [Buffer.concat(slices)], due: 2 }
}

const pipelined: Maker = (chance) => {
  const count = 2 + chance.below(20)
  const last = text(GET, HOST, 'Connection: close')
  const slices = [bytesOf(text(GET, HOST).repeat(count - 1) + last)]
  return { name: 'one behind the other', slices, due: Array<number>(count).fill(200) }
}

const sliced: Maker = (chance) => {
  const request = text(GET, HOST, 'X-A: b', 'Connection: close')
  const slices = request.match(new RegExp(`[^]{1,${1 + chance.below(9)}}`, 'g')) ?? []
  return { name: 'in slices', slices: slices.map(bytesOf), due: [200] }
}

function text(...lines: readonly string[]): string {
  return `${lines.join('\r\n')}\r\n\r\n`
}

function bytesOf(request: string): Buffer {
  return Buffer.from(request, 'latin1')
}
