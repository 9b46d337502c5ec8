import { Ajv, type ValidateFunction } from 'ajv'
import { ERRATA, type Part } from './errata.ts'

/** A recorded call with its answer. */
export interface Exchange {
  readonly method: string
  /** With its query. For calls of the bank the method is `CALLBACK`. */
  readonly path: string
  readonly body?: unknown
  readonly status: number
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly answer: unknown
}

/** Faults of an exchange; `undefined` if the document does not describe it. */
export type Verdict = readonly string[] | undefined

const INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:Z|[+-]\d{2}:\d{2})$/

/** Statuses of the general section about errors, which apply to every path. */
const GENERAL = new Set([400, 401, 409, 410, 429, 500, 502, 503, 504])

const PROBLEM: Part = { $ref: '#/components/schemas/Problema' }

/** Paths outside of the document: tokens, and Efí's own. */
const BESIDE = /^\/(?:oauth\/token$|v3\/gn\/|gn\/)/

const NO_CALL = 'no call of the document, nor one that a bank has besides'

/** Schema of a callback. */
const CALLBACK: Part = { $ref: '#/components/requestBodies/WebhookPixBody/content/application~1json/schema' }

interface Operation {
  readonly pattern: RegExp
  readonly method: string
  readonly definition: Part
  readonly parameters: readonly Part[]
}

/** Validates exchanges against the corrected official document. */
export class Judge {
  readonly #document: Part
  readonly #ajv: Ajv
  readonly #operations: readonly Operation[]
  readonly #validators = new Map<Part, ValidateFunction>()
  /** Each erratum with its number of places. */
  readonly mended: readonly string[]

  constructor(document: Part) {
    this.mended = ERRATA.map(({ name, mend }) => `${name}: ${mend(document)} places`)
    this.#document = document
    this.#ajv = new Ajv({ strict: false, allErrors: true, formats: formats() })
    this.#ajv.addSchema({ ...document, $id: 'pix' })
    this.#operations = operationsOf(document)
  }

  /** Faults of the answer, and of the call if the answer is a success. */
  verdict({ method, path, body, status, headers, answer }: Exchange): Verdict {
    if (method === 'CALLBACK') return this.#faults(CALLBACK, body, 'callback')
    const url = new URL(path.replace(/^\/v2(?=\/)/, ''), 'https://pix.example')
    const operation = this.#operations.find((it) => it.method === method && it.pattern.test(url.pathname))
    if (operation === undefined) return BESIDE.test(url.pathname) || status === 404 ? undefined : [NO_CALL]
    const faults = this.#answerFaults(operation, { status, answer, type: headers['content-type'] ?? '' })
    if (status >= 400) return faults
    return [...faults, ...this.#bodyFaults(operation, body), ...this.#queryFaults(operation, url.searchParams)]
  }

  #answerFaults(
    { definition }: Operation,
    { status, answer, type }: { readonly status: number; readonly answer: unknown; readonly type: string },
  ): string[] {
    const responses = definition.responses as Record<string, Part>
    const response = this.#resolved(responses[status])
    if (response === undefined) {
      if (!GENERAL.has(status)) return [`${status} is no answer of it`]
      return type.startsWith('application/problem+json') ? this.#faults(PROBLEM, answer, 'answer') : []
    }
    if (response.content === undefined) return answer === '' ? [] : ['an answer, where none is']
    const content = (response.content as Record<string, Part>)[type.replace(/; charset=utf-8$/, '')]
    if (content === undefined) return [`${type} is no media type of ${status}`]
    return this.#faults(content.schema as Part, answer, 'answer')
  }

  #bodyFaults({ definition }: Operation, body: unknown): string[] {
    const wanted = this.#resolved(definition.requestBody as Part | undefined)
    if (wanted === undefined) return body === undefined ? [] : ['a body, where none is']
    const { schema } = (wanted.content as Record<string, Part>)['application/json'] as { readonly schema: Part }
    return this.#faults(schema, body, 'body')
  }

  #queryFaults({ parameters }: Operation, query: URLSearchParams): string[] {
    const known = parameters.map((it) => this.#resolved(it) as Part).filter((it) => it.in === 'query')
    const lacking = known.filter(({ name, required }) => required === true && !query.has(String(name)))
    const strange = [...query.keys()].filter((name) => known.every((it) => it.name !== name))
    return [
      ...lacking.map(({ name }) => `query: ${name} is missing`),
      ...strange.map((name) => `query: ${name} is not known`),
    ]
  }

  #faults(schema: Part, value: unknown, what: string): string[] {
    const validate = this.#validators.get(schema) ?? this.#ajv.compile(pointed(schema))
    this.#validators.set(schema, validate)
    validate(value)
    return (validate.errors ?? []).map(({ instancePath, message }) => `${what}${instancePath} ${message}`)
  }

  #resolved(part: Part | undefined): Part | undefined {
    if (typeof part?.$ref !== 'string') return part
    return part.$ref
      .slice(2)
      .split('/')
      .reduce<unknown>((at, name) => (at as Part)[name], this.#document) as Part
  }
}

function operationsOf(document: Part): Operation[] {
  return Object.entries(document.paths as Record<string, Part>).flatMap(([path, item]) => {
    // `/{pixUrlAccessToken}` comes first and would match every path.
    const token = path === '/{pixUrlAccessToken}' ? '[a-zA-Z0-9]{26,35}' : '[^/]+'
    const pattern = new RegExp(`^${path.replaceAll(/\{\w+\}/g, token)}$`)
    return ['get', 'put', 'post', 'patch', 'delete'].flatMap((method) => {
      const definition = item[method] as Part | undefined
      if (definition === undefined) return []
      const parameters = [item.parameters, definition.parameters].flatMap((it) => (it ?? []) as Part[])
      return [{ pattern, method: method.toUpperCase(), definition, parameters }]
    })
  })
}

/** The schema with references into the whole document. */
function pointed(schema: unknown): Part {
  return JSON.parse(JSON.stringify(schema).replaceAll('"#/components/', '"pix#/components/'))
}

function formats() {
  return {
    'date-time': (text: string) => INSTANT.test(text) && !Number.isNaN(Date.parse(text)),
    date: /^\d{4}-\d{2}-\d{2}$/,
    uri: (text: string) => URL.canParse(text),
    int32: { type: 'number', validate: (number: number) => Math.abs(number) < 2 ** 31 },
    int64: { type: 'number', validate: Number.isSafeInteger },
  } as const
}
