/**
 * What something, somewhere, takes for something else. Numbers and ids are divided by spaces where they hold none.
 */

/** Spellings of numbers, some of them no JSON. */
export const ODD_NUMBERS = [
  ...'-0 0 -1 0.1 0.01 0.001 1.005 1.999 19.990 1e2 1E+2 100e-2 0.1e1 1e-400 1e400 -1e400 1e308 1e15'.split(' '),
  ...'1000000000000001 9999999999.99 9999999999.995 10000000000 9007199254740991 9007199254740993'.split(' '),
  ...'90071992547409.93 2147483648 4294967296 18446744073709551616 0.30000000000000004 5e-324'.split(' '),
  ...'NaN Infinity -Infinity 01 +1 .5 1. 0x10 1_000 1,5 1n --1 ١'.split(' '),
  `1${'0'.repeat(400)}`,
  `0.${'3'.repeat(400)}`,
]

/** Spellings of whole numbers in a query. */
export const ODD_WHOLE_NUMBERS = [
  ...'0 -0 -1 00 01 1.0 1e0 +1 0x1 101 1000001 ١'.split(' '),
  ' 1',
  '1 ',
  '9'.repeat(30),
]

/** Texts. */
export const ODD_TEXTS = [
  ...['', ' ', '\0', 'a\0b', '\u0001', '\u001f', '\u007f', '\u0085', '\t', '\n', '\r\nX-Injected: 1', '\u00a0'],
  ...['\ud800', '\udfff', 'a\udc00b', '\ufeff', '\ufffe', '\uffff', '\u2028', '\u200b', '\u202eabc', '\u2066'],
  ...['é', 'e\u0301', 'ﷺ', '💥', '👩‍👩‍👧‍👦', '\u0301'.repeat(140), 'é'.repeat(141), '💥'.repeat(200)],
  ...["' OR '1'='1", "'; DROP TABLE operation; --", '$1', '%s%n%x', '%00', '%', '_', '\\', '"', '`', '{{7*7}}'],
  ...['../../../../etc/passwd', '<script>alert(1)</script>', '=1+1', '@SUM(1)', '|id', '$(id)', '\\u0000'],
  ...['null', 'undefined', 'true', 'NaN', '0', '1e400', '[object Object]', '__proto__', 'constructor'],
  ...['x'.repeat(129), 'x'.repeat(2_049), 'x'.repeat(10_000)],
]

/** Names of properties. */
export const ODD_KEYS = [
  ...'__proto__ constructor prototype toString hasOwnProperty valueOf __defineGetter__ $where'.split(' '),
  ...'0 id status Transaction transaction.value a/b~c é'.split(' '),
  ...['', ' ', '\0', '\ud800', 'k'.repeat(1_000)],
]

/** Days, instants and UUIDs. */
export const ODD_FORMATS = [
  ...'2026-02-29 2026-2-1 0000-01-01 0001-01-01 9999-12-31 10000-01-01 +002026-01-01 yesterday 1763730900'.split(' '),
  ...'2026-01-01T00:00:00Z 2026-11-21T25:00:00Z 2026-11-21T13:15:00 2026-11-21T23:59:60Z'.split(' '),
  ...'2026-11-21t13:15:00z 0001-01-01T00:00:00Z 9999-12-31T23:59:59.999999999Z 9999-12-31T23:59:59-23:59'.split(' '),
  ...'00000000-0000-0000-0000-000000000000 ffffffff-ffff-ffff-ffff-ffffffffffff'.split(' '),
  ...'0198C0DE-3F00-7000-8000-1A2B3C4D5E6F 0198c0de3f00700080001a2b3c4d5e6f'.split(' '),
  ...'{0198c0de-3f00-7000-8000-1a2b3c4d5e6f} urn:uuid:0198c0de-3f00-7000-8000-1a2b3c4d5e6f'.split(' '),
]

/** Ids that name nothing, as they are written in a path. */
export const UNKNOWN_IDS = [
  ...'0 -1 null %20 %00 %0d%0aX-Injected:%201 %2e%2e%2f a%2Fb * %25 %ef%bf%bd __proto__ constructor {id} :id'.split(
    ' ',
  ),
  ...'00000000-0000-0000-0000-000000000000 ffffffff-ffff-ffff-ffff-ffffffffffff'.split(' '),
  ...'%7B0198c0de-3f00-7000-8000-1a2b3c4d5e6f%7D 0198c0de3f00700080001a2b3c4d5e6f'.split(' '),
  ...["'%20OR%201=1--", '0198c0de-3f00-7000-8000-1a2b3c4d5e6f%20', 'x'.repeat(128), '%F0%9F%92%A5'.repeat(128)],
]

/** Segments of a path whose escapes stand for no text. */
export const UNDECODABLE = '% %zz %ff %c0%80 %ed%a0%80 %f4%90%80%80 a%2'.split(' ')

/** Paths that are near one that exists, but are none. */
export const WRONG_PATHS: readonly ((path: string) => string)[] = [
  (path) => `${path}//`,
  (path) => `/${path}`,
  (path) => `${path}/x/y/z`,
  (path) => `${path};a=b/c/d`,
  (path) => `/v1${path}`,
  (path) => `/x${path.slice(2)}`,
  (path) => `/.${path}`,
  (path) => `/x/..${path}`,
  (path) => `/%2F${path.slice(1)}`,
  (path) => `/%00${path.slice(1)}`,
  (path) => path.toUpperCase().replaceAll(/\{.*?\}/g, 'x'),
  () => '/.env',
  () => '/server-status',
  () => '/__proto__',
]

/** Parameters that no operation has. */
export const UNKNOWN_PARAMETERS = [
  ...'x Page limit[] limit.a status[$ne] __proto__ constructor toString offset'.split(' '),
  ...[' ', '\0', 'a'.repeat(500)],
]

/** Queries that are not written as names and values usually are. */
export const RAW_QUERIES = [
  ...["= & &&& ? % %zz %ff=%ff limit limit=%31 limit=+1 page=1;limit=1 %00 status=%F0%9F%92%A5 %ED%A0%80=1 '"],
  ...['', '=&='.repeat(500), 'a'.repeat(4_000)],
].flatMap((queries) => queries.split(' '))

/** Content types of a request, right ones and wrong ones. */
export const CONTENT_TYPES: readonly (readonly string[])[] = [
  ...['application/json; charset=utf-8', 'APPLICATION/JSON', 'application/json;', 'application/json ;x=y'],
  ...['application/json; charset=utf-16', 'application/json;charset="latin1"', 'application/json; charset="UTF-8"'],
  ...['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', 'application/xml'],
  ...['application/jsonx', 'application/problem+json', 'json', '*/*', 'application /json', 'xapplication/json', ''],
]
  .map((type) => [type])
  .concat([[], ['application/json', 'text/plain'], ['text/plain', 'application/json']])

/** Correlation ids, none of which may fail a request; the last was sent twice. */
export const CORRELATION_IDS: readonly (readonly string[])[] = [
  ...['', 'a b', 'a,b', '\u00e9', '"a"', 'a/b', '{{7*7}}', '<a>', 'x'.repeat(256), 'x'.repeat(257)].map((id) => [id]),
  ['a', 'a'],
]

/** What `Idempotency-Key` must not be; the last was sent twice. */
export const MALFORMED_IDEMPOTENCY_KEYS: readonly (readonly string[])[] = [
  ...['', '"', '""', '"a', 'a b', 'a,b', 'a"b', '\u00e9', 'x'.repeat(256), `"${'x'.repeat(256)}"`].map((key) => [key]),
  ['a', 'a'],
]

/** Headers that mean nothing here, whatever they mean elsewhere: their lines. */
export const OTHER_HEADERS: readonly (readonly string[])[] = [
  ['Accept: text/html'],
  ['Accept: \u00ff,;;q=x'],
  ['Accept-Encoding: gzip, br'],
  ['Accept-Version: 9.9.9'],
  ['Content-Encoding: gzip'],
  ['If-None-Match: *', 'If-Modified-Since: Sat, 21 Nov 2099 00:00:00 GMT'],
  ['Range: bytes=0-1'],
  ['Expect: 100-continue'],
  ['Expect: a miracle'],
  ['Upgrade: websocket', 'Connection: Upgrade'],
  ['Upgrade: h2c', 'Connection: Upgrade, HTTP2-Settings', 'HTTP2-Settings: AAMAAABkAAQAAP__'],
  ['Connection: close'],
  ['TE: trailers, chunked'],
  ['Origin: https://evil.example', 'Cookie: a=b', 'Referer: https://evil.example'],
  ['X-HTTP-Method-Override: DELETE', 'X-Method-Override: DELETE', '_method: DELETE'],
  ['X-Original-URL: /api-key/generate', 'X-Rewrite-URL: /api-key/generate'],
  ['X-Forwarded-For: unknown, \u00ff\u00fe, ::1, 999.999.999.999'],
  ['X-Forwarded-For:'],
  [`X-Forwarded-For: ${'10.0.0.1, '.repeat(300)}10.0.0.1`],
  ['X-Forwarded-Host: evil.example', 'X-Forwarded-Proto: gopher', 'Forwarded: for="[::1]"'],
  ['__proto__: x', 'constructor: x'],
  [`X-Long: ${'x'.repeat(4_000)}`],
]
