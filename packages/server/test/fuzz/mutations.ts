import { createHmac } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import type { Chance } from './chance.ts'
import type { Operation } from './document.ts'
import type { Draft, Flaw, Header } from './draft.ts'
import { ODD_TEXTS, spoil } from './spoiled-json.ts'
import { type Source, uuidOf } from './values.ts'

/** One way in which a request is not the usual one. Some make it invalid, some only look like it. */
export interface Mutation {
  readonly name: string
  /** Where it can be made; everywhere where absent. */
  readonly fits?: (operation: Operation) => boolean
  readonly change: (draft: Draft, source: Source & Secrets) => void
}

/** What opens the service. */
export interface Secrets {
  readonly apiKey: string
  readonly adminToken: string
  readonly partnerSecret: string
}

const hasBody = ({ body }: Operation) => body !== undefined
const hasQuery = ({ query }: Operation) => Object.keys(query).length > 0
const hasParameter = ({ pathParameters }: Operation) => pathParameters.length > 0
const wantsToken = ({ credential }: Operation) => credential === 'apiKey' || credential === 'adminToken'
const wantsSignature = ({ credential }: Operation) => credential === 'partnerSignature'

/** Every mutation. One that stands here twice is made twice as often. */
export const mutations: readonly Mutation[] = [
  ...Array.from(
    { length: 8 },
    (): Mutation => ({
      name: 'value',
      fits: hasBody,
      change: (draft, { operation, chance }) => {
        draft.value = spoil(draft.value, operation.body?.schema ?? {}, chance)
        draft.isSpoiled = true
      },
    }),
  ),
  {
    name: 'spelling of the same JSON',
    fits: hasBody,
    change: (draft, { chance }) => encodeBy(draft, chance.pick(SAME)),
  },
  {
    name: 'no JSON',
    fits: hasBody,
    change: (draft, { chance }) => encodeBy(draft, chance.pick(BROKEN)(chance)),
  },
  {
    name: 'size',
    fits: hasBody,
    change: (draft, { chance }) => {
      const bytes = chance.pick([65_535, 65_536, 65_537, 70_000, 200_000])
      encodeBy(draft, (json) => Buffer.from(json.padEnd(bytes)))
    },
  },
  {
    name: 'no body',
    fits: hasBody,
    change: (draft) => {
      draft.value = undefined
    },
  },
  {
    name: 'a body where none is expected',
    fits: (operation) => !hasBody(operation),
    change: (draft, { chance }) => {
      draft.value = chance.pick<unknown>([{}, { value: 1 }, 'x'.repeat(1_000), null])
      draft.contentTypes = chance.pick([[], ['application/json'], ['text/plain']])
    },
  },
  {
    name: 'content type',
    fits: hasBody,
    change: (draft, { chance }) => {
      draft.contentTypes = chance.pick(CONTENT_TYPES)
    },
  },
  {
    name: 'chunks',
    fits: hasBody,
    change: (draft) => {
      draft.isChunked = draft.value !== undefined
    },
  },
  ...Array.from(
    { length: 3 },
    (): Mutation => ({
      name: 'query value',
      fits: hasQuery,
      change: (draft, { operation, chance }) => {
        const name = chance.pick(Object.keys(operation.query))
        const usual = draft.query.find((item) => item.name === name)?.value ?? '1'
        const spoiled = { [name]: spoil(usual, operation.query[name] ?? {}, chance) }
        const value = chance.pick([String(spoiled[name] ?? ''), chance.pick(ODD_TEXTS), chance.pick(ODD_WHOLE_NUMBERS)])
        draft.query = [...draft.query.filter((item) => item.name !== name), { name, value }]
        draft.isSpoiled = true
      },
    }),
  ),
  {
    name: 'unknown parameter',
    change: (draft, { chance }) => {
      draft.query = [...draft.query, { name: chance.pick(UNKNOWN_PARAMETERS), value: chance.pick(['', '1', 'x']) }]
    },
  },
  {
    name: 'repeated parameter',
    fits: hasQuery,
    change: (draft, { operation, chance }) => {
      const item = draft.query[0] ?? { name: chance.pick(Object.keys(operation.query)), value: '1' }
      draft.query = [...draft.query, item, item]
    },
  },
  {
    name: 'raw query',
    change: (draft, { chance }) => {
      draft.query = [...draft.query, { name: '', value: '', raw: chance.pick(RAW_QUERIES) }]
    },
  },
  {
    name: 'unknown id',
    fits: hasParameter,
    change: (draft, { chance }) => setParameter(draft, chance.pick([uuidOf(chance), ...UNKNOWN_IDS]), 'id'),
  },
  {
    name: 'too long an id',
    fits: hasParameter,
    change: (draft, { chance }) => setParameter(draft, 'a'.repeat(chance.pick([129, 1_000, 4_000])), 'shape'),
  },
  {
    name: 'undecodable id',
    fits: hasParameter,
    change: (draft, { chance }) => setParameter(draft, chance.pick(UNDECODABLE), 'address'),
  },
  {
    name: 'path',
    change: (draft, { chance }) => {
      draft.path = chance.pick(WRONG_PATHS)(draft.path)
      draft.flaws.add('path')
    },
  },
  {
    name: 'method',
    change: (draft, { chance }) => {
      draft.method = chance.pick(['PATCH', 'OPTIONS', 'TRACE'])
      draft.flaws.add('method')
    },
  },
  {
    name: 'HEAD',
    fits: ({ method }) => method === 'GET',
    change: (draft) => {
      if (!draft.flaws.has('method')) draft.method = 'HEAD'
    },
  },
  {
    name: 'correlation id',
    change: (draft, { chance }) => {
      draft.correlationIds = [chance.pick(['a', 'Z9._:-', 'x'.repeat(128)])]
      draft.flaws.delete('transport')
    },
  },
  {
    name: 'malformed correlation id',
    change: (draft, { chance }) => {
      draft.correlationIds = chance.pick(MALFORMED_CORRELATION_IDS)
      draft.flaws.add('transport')
    },
  },
  {
    name: 'idempotency key',
    fits: ({ headers }) => headers.includes('idempotency-key'),
    change: (draft, { chance }) => {
      const key = chance.pick([
        `"k ${chance.below(50)}"`,
        `k${chance.below(50)}`,
        'x'.repeat(255),
        `"${'y'.repeat(255)}"`,
      ])
      draft.headers = [...draft.headers.filter(([name]) => name !== 'Idempotency-Key'), ['Idempotency-Key', key]]
    },
  },
  {
    name: 'malformed idempotency key',
    fits: ({ headers }) => headers.includes('idempotency-key'),
    change: (draft, { chance }) => {
      draft.headers = [...draft.headers, ...chance.pick(MALFORMED_IDEMPOTENCY_KEYS)]
      draft.flaws.add('shape')
    },
  },
  {
    name: 'other headers',
    change: (draft, { chance }) => {
      draft.headers = [...draft.headers, ...chance.pick(OTHER_HEADERS)]
    },
  },
  {
    name: 'too many headers',
    change: (draft) => {
      const fillers = Array.from({ length: 100 }, (_, number): Header => [`X-Filler-${number}`, ''])
      draft.headers = [...draft.headers, ...fillers]
      draft.flaws.add('head size')
    },
  },
  {
    name: 'token',
    fits: wantsToken,
    change: (draft, source) => {
      const wrong = source.chance.pick(wrongAuthorizations(source))
      draft.prove = () => wrong.map((value) => ['Authorization', value])
      draft.flaws.add('credentials')
    },
  },
  {
    name: 'spelling of the scheme',
    fits: wantsToken,
    change: (draft, { chance }) => {
      const { prove } = draft
      const scheme = chance.pick(['bearer', 'BEARER'])
      draft.prove = (body) => prove(body).map(([name, value]) => [name, value.replace(/^Bearer/, scheme)])
    },
  },
  ...Array.from(
    { length: 4 },
    (): Mutation => ({
      name: 'signature',
      fits: wantsSignature,
      change: (draft, source) => {
        const forge = source.chance.pick(forgeries(source))
        draft.prove = forge
        draft.flaws.add('credentials')
      },
    }),
  ),
  {
    name: 'spelling of the time',
    fits: wantsSignature,
    change: (draft, { chance, partnerSecret }) => {
      const time = chance.pick([() => String(Date.now()), () => new Date().toISOString(), seconds])
      draft.flaws.delete('credentials')
      draft.prove = (body) => [
        [
          'X-Partner-Signature',
          signatureOf(body, partnerSecret)
            .replace(/[a-f]/g, (digit) => digit.toUpperCase())
            .replace('shA', 'sha'),
        ],
        ['X-Partner-Timestamp', time()],
      ]
    },
  },
]

/** The headers of a request that is what it says. */
export function proofOf({ operation, apiKey, adminToken, partnerSecret }: Source & Secrets): Draft['prove'] {
  switch (operation.credential) {
    case 'apiKey':
      return () => [['Authorization', `Bearer ${apiKey}`]]
    case 'adminToken':
      return () => [['Authorization', `Bearer ${adminToken}`]]
    case 'partnerSignature':
      return (body) => [
        ['X-Partner-Signature', signatureOf(body, partnerSecret)],
        ['X-Partner-Timestamp', seconds()],
      ]
    default:
      return () => []
  }
}

function signatureOf(body: Buffer, secret: string): string {
  return `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`
}

function seconds(): string {
  return String(Math.floor(Date.now() / 1_000))
}

function wrongAuthorizations({ operation, apiKey, adminToken, partnerSecret }: Source & Secrets): readonly string[][] {
  const isAdmin = operation.credential === 'adminToken'
  const [right, other] = isAdmin ? [adminToken, apiKey] : [apiKey, adminToken]
  const flipped = right.slice(0, -1) + (right.endsWith('0') ? '1' : '0')
  return [
    [],
    [`Bearer ${other}`],
    [`Bearer ${partnerSecret}`],
    [`Bearer ${flipped}`],
    [`Bearer ${right.slice(0, -1)}`],
    [`Bearer ${right}0`],
    [`Bearer ${right.replace('_test_', '_live_').replace(/^(?!pix_)/, 'x')}`],
    [`Bearer ${right}`, `Bearer ${right}`],
    [`Bearer ${right}, Bearer ${right}`],
    [`Bearer  ${right}`],
    [`Bearer\t${right}`],
    [`Bearer "${right}"`],
    [`Bearer ${right} x`],
    [`Basic ${Buffer.from(right).toString('base64')}`],
    [right],
    ['Bearer'],
    [''],
    [`Bearer ${'\u00ff'.repeat(49)}`],
    [`Bearer ${'x'.repeat(4_000)}`],
    [`Bearer pix_test_${'0'.repeat(49)}`],
  ]
}

function forgeries({ partnerSecret }: Secrets): readonly Draft['prove'][] {
  const right = (body: Buffer) => signatureOf(body, partnerSecret)
  const signature = (value: string): Header => ['X-Partner-Signature', value]
  const time = (value: string): Header => ['X-Partner-Timestamp', value]
  return [
    () => [],
    () => [time(seconds())],
    () => [signature(''), time(seconds())],
    () => [signature(`sha256=${'0'.repeat(64)}`), time(seconds())],
    (body) => [signature(signatureOf(body, `${partnerSecret}x`)), time(seconds())],
    (body) => [signature(right(Buffer.concat([body, Buffer.from(' ')]))), time(seconds())],
    (body) => [signature(right(body).slice(0, -1)), time(seconds())],
    (body) => [signature(`${right(body)}0`), time(seconds())],
    (body) => [signature(right(body).replace('sha256=', '')), time(seconds())],
    (body) => [signature(right(body).replace('sha256', 'sha1')), time(seconds())],
    (body) => [signature(right(body)), signature(right(body)), time(seconds())],
    (body) => [['X-Partner-Api-Key', partnerSecret], signature(right(body)), time('0')],
    (body) => [signature(right(body))],
    ...BAD_TIMES.map((value) => (body: Buffer) => [signature(right(body)), time(value)]),
    (body) => [signature(right(body)), time(seconds()), time(seconds())],
    () => [['Authorization', `Bearer ${partnerSecret}`]],
  ]
}

const BAD_TIMES = [
  '',
  '0',
  '-1',
  'now',
  '1e9',
  '9999999999',
  '99999999999999999999',
  '2020-01-01T00:00:00Z',
  '9999-12-31T23:59:59Z',
  '٣',
]

function encodeBy(draft: Draft, change: (json: string) => Buffer): void {
  const { encode } = draft
  draft.encode = (json) => change(encode(json).toString())
}

/** The same value in other words. */
const SAME: readonly ((json: string) => Buffer)[] = [
  (json) => Buffer.from(` \t\r\n${json}\n `),
  (json) => Buffer.from(json.replaceAll(/"\w+":/g, escaped)),
  (json) =>
    Buffer.from(
      json.replaceAll(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`),
    ),
]

/** No JSON, or JSON that two readers might read differently. */
const BROKEN: readonly ((chance: Chance) => (json: string) => Buffer)[] = [
  (chance) => (json) => Buffer.from(json.slice(0, 1 + chance.below(Math.max(1, json.length - 1)))),
  (chance) => (json) => Buffer.from(json + chance.pick(['x', '{}', '\0', ',', '}', '//', '\u00a0', json])),
  (chance) => (json) =>
    Buffer.concat([Buffer.from(json.slice(0, 2)), chance.pick(NO_UTF8), Buffer.from(json.slice(2))]),
  () => (json) => Buffer.from(json, 'utf16le'),
  () => (json) => gzipSync(json),
  ...[
    (json: string) => `\ufeff${json}`,
    (json: string) => json.replaceAll('"', "'"),
    (json: string) => json.replace(/\}$/, ',}'),
    (json: string) => json.replace(/^\{/, '{/* */'),
    (json: string) => json.replace(/^\{("\w+":)/, '{$1null,$1'),
    (json: string) =>
      json.replace(/\{("\w)(\w*":)([^,}]+)/, (all, first, rest, value) => `${all},${escaped(first)}${rest}${value}`),
    (json: string) => json.replace(/^\{/, '{"__proto__":{"polluted":true},'),
    (json: string) => json.replace(/^\{/, '{"constructor":{"prototype":{"polluted":true}},'),
    () => '['.repeat(30_000),
    () => '{"a":'.repeat(10_000),
    () => `[${'1,'.repeat(30_000)}1]`,
    () => ' ',
    () => 'null',
    () => '"',
    () => 'transaction[value]=1&transaction[externalId]=x',
  ].map((change) => () => (json: string) => Buffer.from(change(json))),
]

function escaped(text: string): string {
  return text.replaceAll(/[A-Za-z]/g, (letter) => `\\u00${letter.charCodeAt(0).toString(16)}`)
}

const NO_UTF8 = ['ff', 'c080', 'eda080', 'f4908080', 'c3'].map((hex) => Buffer.from(hex, 'hex'))

const CONTENT_TYPES: readonly (readonly string[])[] = [
  ...['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', 'application/xml'].map(
    (type) => [type],
  ),
  ...['application/jsonx', 'application/problem+json', 'json', '', '*/*', 'application /json', 'xapplication/json'].map(
    (type) => [type],
  ),
  ...['application/json; charset=utf-8', 'APPLICATION/JSON', 'application/json;', 'application/json ;x=y'].map(
    (type) => [type],
  ),
  [],
  ['application/json', 'text/plain'],
  ['text/plain', 'application/json'],
]

const ODD_WHOLE_NUMBERS = [
  '0',
  '-0',
  '-1',
  '00',
  '01',
  '1.0',
  '1e0',
  '+1',
  ' 1',
  '1 ',
  '0x1',
  '101',
  '1000001',
  '9'.repeat(30),
  '١',
]

const UNKNOWN_PARAMETERS = [
  'x',
  'Page',
  'limit[]',
  'limit.a',
  'status[$ne]',
  '__proto__',
  'constructor',
  'toString',
  'offset',
  ' ',
  '\0',
  'a'.repeat(500),
]

const RAW_QUERIES = [
  '',
  '=',
  '&',
  '&&&',
  '?',
  '%',
  '%zz',
  '%ff=%ff',
  'limit',
  'limit=%31',
  'limit=+1',
  'page=1;limit=1',
  '%00',
  'a'.repeat(4_000),
  '=&='.repeat(500),
  'status=%F0%9F%92%A5',
  '%ED%A0%80=1',
  "'",
]

const UNKNOWN_IDS = [
  ...[
    '0',
    '-1',
    'null',
    '%20',
    '%00',
    '%0d%0aX-Injected:%201',
    '%2e%2e%2f',
    'a%2Fb',
    "'%20OR%201=1--",
    '%F0%9F%92%A5',
    '*',
    '%25',
    '%ef%bf%bd',
  ],
  ...[
    '00000000-0000-0000-0000-000000000000',
    'ffffffff-ffff-ffff-ffff-ffffffffffff',
    'x'.repeat(128),
    '__proto__',
    'constructor',
    '{id}',
    ':id',
  ],
  ...[
    '%7B0198c0de-3f00-7000-8000-1a2b3c4d5e6f%7D',
    '0198c0de3f00700080001a2b3c4d5e6f',
    '0198c0de-3f00-7000-8000-1a2b3c4d5e6f%20',
    '%F0%9F%92%A5'.repeat(128),
  ],
]

const UNDECODABLE = ['%', '%zz', '%ff', '%c0%80', '%ed%a0%80', '%f4%90%80%80', 'a%2']

const WRONG_PATHS: readonly ((path: string) => string)[] = [
  (path) => `${path}//`,
  (path) => `/${path}`,
  (path) => `${path}/x/y/z`,
  (path) => path.toUpperCase().replaceAll(/\{.*?\}/g, 'x'),
  (path) => `/v1${path}`,
  (path) => `/x${path.slice(2)}`,
  (path) => `/.${path}`,
  (path) => `/x/..${path}`,
  (path) => path.replace('/', '/%2F'),
  (path) => path.replace('/', '/%00'),
  (path) => `${path};a=b/c/d`,
  () => '/.env',
  () => '/metrics',
  () => '/__proto__',
]

const MALFORMED_CORRELATION_IDS: readonly (readonly string[])[] = [
  ...['', 'a b', 'a,b', 'x'.repeat(129), '\u00e9', '"a"', 'a/b', '{{7*7}}', 'x'.repeat(4_000), '<a>'].map((id) => [id]),
  ['a', 'a'],
]

const MALFORMED_IDEMPOTENCY_KEYS: readonly (readonly Header[])[] = [
  ...['', '"', '""', '"a', 'a b', 'a,b', 'x'.repeat(256), `"${'x'.repeat(256)}"`, '\u00e9', 'a"b'].map(
    (key): Header[] => [['Idempotency-Key', key]],
  ),
  [
    ['Idempotency-Key', 'a'],
    ['Idempotency-Key', 'a'],
  ],
]

/** Headers that mean nothing here, whatever they mean elsewhere. */
const OTHER_HEADERS: readonly (readonly Header[])[] = [
  [['Accept', 'text/html']],
  [['Accept', '\u00ff,;;q=x']],
  [['Accept-Encoding', 'gzip, br']],
  [['Accept-Version', '9.9.9']],
  [['Content-Encoding', 'gzip']],
  [['If-None-Match', '*']],
  [['If-Modified-Since', 'Sat, 21 Nov 2099 00:00:00 GMT']],
  [['Range', 'bytes=0-1']],
  [['Expect', '100-continue']],
  [['Expect', 'something else']],
  [
    ['Upgrade', 'websocket'],
    ['Connection', 'Upgrade'],
  ],
  [
    ['Upgrade', 'h2c'],
    ['Connection', 'Upgrade, HTTP2-Settings'],
    ['HTTP2-Settings', 'AAMAAABkAAQAAP__'],
  ],
  [['Connection', 'close']],
  [['TE', 'trailers, chunked']],
  [
    ['Origin', 'https://evil.example'],
    ['Cookie', 'a=b'],
    ['Referer', 'https://evil.example'],
  ],
  [
    ['X-HTTP-Method-Override', 'DELETE'],
    ['X-Method-Override', 'DELETE'],
    ['_method', 'DELETE'],
  ],
  [
    ['X-Original-URL', '/api-key/generate'],
    ['X-Rewrite-URL', '/api-key/generate'],
  ],
  [['X-Forwarded-For', 'unknown, \u00ff\u00fe, ::1, 999.999.999.999']],
  [['X-Forwarded-For', '']],
  [['X-Forwarded-For', `${'10.0.0.1, '.repeat(300)}10.0.0.1`]],
  [
    ['X-Forwarded-Host', 'evil.example'],
    ['X-Forwarded-Proto', 'gopher'],
    ['Forwarded', 'for="[::1]"'],
  ],
  [
    ['__proto__', 'x'],
    ['constructor', 'x'],
  ],
  [['X-Long', 'x'.repeat(4_000)]],
]

function setParameter(draft: Draft, value: string, flaw: Flaw): void {
  const [name = ''] = draft.operation.pathParameters
  draft.parameters = { ...draft.parameters, [name]: value }
  draft.parameterFlaw = flaw
}
