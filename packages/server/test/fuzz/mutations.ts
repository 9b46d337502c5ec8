import type { Chance } from './chance.ts'
import { forgeries, respelledProofs, type Secrets, wrongTokens } from './credentials.ts'
import type { Operation } from './document.ts'
import type { Draft, Flaw, Header } from './draft.ts'
import * as odd from './oddities.ts'
import { LENGTHENINGS, RESPELLINGS, SPOILINGS, type Spoiling } from './spoiled-bytes.ts'
import { spoil } from './spoiled-json.ts'
import { type Source, uuidOf } from './values.ts'

/** One way in which a request is not the usual one. Some make it invalid, some only look like it. */
export interface Mutation {
  readonly name: string
  /** How often it is made, compared to the others; 1 where absent. */
  readonly weight?: number
  /** Where it can be made; everywhere where absent. */
  readonly fits?: (operation: Operation) => boolean
  readonly change: (draft: Draft, source: Source & Secrets) => void
}

const hasBody = ({ body }: Operation) => body !== undefined
const hasQuery = ({ query }: Operation) => Object.keys(query).length > 0
const hasParameter = ({ pathParameters }: Operation) => pathParameters.length > 0
const hasKey = ({ headers }: Operation) => headers.includes('idempotency-key')
const wantsToken = ({ credential }: Operation) => credential === 'apiKey' || credential === 'adminToken'
const wantsSignature = ({ credential }: Operation) => credential === 'partnerSignature'

/** Every mutation. */
export const mutations: readonly Mutation[] = [
  {
    name: 'value',
    weight: 16,
    fits: hasBody,
    change: (draft, { operation, chance }) => {
      draft.value = spoil(draft.value, operation.body?.schema ?? {}, chance)
      draft.isSpoiled = true
    },
  },
  { name: 'spelling', fits: hasBody, change: (draft, { chance }) => encodeBy(draft, RESPELLINGS, chance) },
  { name: 'bytes', weight: 3, fits: hasBody, change: (draft, { chance }) => encodeBy(draft, SPOILINGS, chance) },
  { name: 'length', fits: hasBody, change: (draft, { chance }) => encodeBy(draft, LENGTHENINGS, chance) },
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
      draft.contentTypes = chance.pick(odd.CONTENT_TYPES)
    },
  },
  {
    name: 'content type',
    weight: 2,
    fits: hasBody,
    change: (draft, { chance }) => {
      draft.contentTypes = chance.pick(odd.CONTENT_TYPES)
    },
  },
  {
    name: 'chunks',
    fits: hasBody,
    change: (draft) => {
      draft.isChunked = draft.value !== undefined
    },
  },
  {
    name: 'query value',
    weight: 8,
    fits: hasQuery,
    change: (draft, { operation, chance }) => {
      const name = chance.pick(Object.keys(operation.query))
      const usual = draft.query.find((item) => item.name === name)?.value ?? '1'
      const spoiled = String(spoil(usual, operation.query[name] ?? {}, chance) ?? '')
      const value = chance.pick([spoiled, chance.pick(odd.ODD_TEXTS), chance.pick(odd.ODD_WHOLE_NUMBERS)])
      draft.query = [...draft.query.filter((item) => item.name !== name), { name, value: value.toWellFormed() }]
      draft.isSpoiled = true
    },
  },
  {
    name: 'unknown parameter',
    change: (draft, { chance }) => {
      draft.query = [...draft.query, { name: chance.pick(odd.UNKNOWN_PARAMETERS), value: chance.pick(['', '1', 'x']) }]
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
      draft.query = [...draft.query, { name: '', value: '', raw: chance.pick(odd.RAW_QUERIES) }]
    },
  },
  {
    name: 'unknown id',
    weight: 2,
    fits: hasParameter,
    change: (draft, { chance }) => setParameter(draft, chance.pick([uuidOf(chance), ...odd.UNKNOWN_IDS]), 'id'),
  },
  {
    name: 'too long an id',
    fits: hasParameter,
    change: (draft, { chance }) => setParameter(draft, 'a'.repeat(chance.pick([129, 1_000, 4_000])), 'shape'),
  },
  {
    name: 'undecodable id',
    fits: hasParameter,
    change: (draft, { chance }) => setParameter(draft, chance.pick(odd.UNDECODABLE), 'address'),
  },
  {
    name: 'path',
    change: (draft, { chance }) => {
      draft.path = chance.pick(odd.WRONG_PATHS)(draft.path)
      draft.flaws.set('path', 'path')
    },
  },
  {
    name: 'method',
    change: (draft, { chance }) => {
      draft.method = chance.pick(['PATCH', 'OPTIONS', 'TRACE'])
      draft.flaws.set('method', 'method')
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
      draft.correlationIds = chance.pick(odd.CORRELATION_IDS)
    },
  },
  {
    name: 'idempotency key',
    weight: 2,
    fits: hasKey,
    change: (draft, { chance }) => {
      const keys = [`"k ${chance.below(50)}"`, `k${chance.below(50)}`, 'x'.repeat(255), `"${'y'.repeat(255)}"`]
      draft.idempotencyKeys = [chance.pick(keys)]
      draft.flaws.delete('idempotency key')
    },
  },
  {
    name: 'malformed idempotency key',
    fits: hasKey,
    change: (draft, { chance }) => {
      draft.idempotencyKeys = chance.pick(odd.MALFORMED_IDEMPOTENCY_KEYS)
      draft.flaws.set('idempotency key', 'shape')
    },
  },
  {
    name: 'other headers',
    weight: 2,
    change: (draft, { chance }) => {
      draft.headers = [...draft.headers, ...chance.pick(odd.OTHER_HEADERS).map(headerOf)]
    },
  },
  {
    name: 'too many headers',
    change: (draft) => {
      const fillers = Array.from({ length: 100 }, (_, number): Header => [`X-Filler-${number}`, ''])
      draft.headers = [...draft.headers, ...fillers]
      draft.flaws.set('headers', 'head')
    },
  },
  {
    name: 'wrong token',
    weight: 2,
    fits: wantsToken,
    change: (draft, source) => {
      draft.prove = source.chance.pick(wrongTokens(source.operation.credential, source))
      draft.flaws.set('proof', 'credentials')
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
  {
    name: 'forged signature',
    weight: 5,
    fits: wantsSignature,
    change: (draft, source) => {
      draft.prove = source.chance.pick(forgeries(source))
      draft.flaws.set('proof', 'credentials')
    },
  },
  {
    name: 'spelling of the signature',
    fits: wantsSignature,
    change: (draft, source) => {
      draft.prove = source.chance.pick(respelledProofs(source))
      draft.flaws.delete('proof')
    },
  },
]

function encodeBy(draft: Draft, ways: readonly Spoiling[], chance: Chance): void {
  const { encode } = draft
  const way = chance.pick(ways)
  draft.encode = (json) => way(encode(json).toString(), chance)
}

function setParameter(draft: Draft, value: string, flaw: Flaw): void {
  const [name = ''] = draft.operation.pathParameters
  draft.parameters = { ...draft.parameters, [name]: value }
  draft.flaws.set('parameter', flaw)
}

function headerOf(line: string): Header {
  const colon = line.indexOf(':')
  return [line.slice(0, colon), line.slice(colon + 1).trimStart()]
}
