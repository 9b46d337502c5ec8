import {
  cashIn,
  cashOut,
  type Endpoint,
  type ErrorCode,
  type EventType,
  errorHelp,
  errorHelpPtBr,
  errors,
  errorsOf,
  eventExamples,
  eventSchemas,
  eventTypes,
  limits,
  type Machine,
  neededRoles,
  type ResponseHeader,
  refundIn,
  responseHeaders,
  tags,
} from '@pixgate/spec'
import { type Html, html } from '../platform/http/html.ts'
import { curlOf, isForOperators, webhookHeaders } from '../platform/http/openapi.ts'
import { ERRORS_PAGES, type Language, type Page, prose, START_PAGES } from './frame.ts'
import { apiInfo } from './info.ts'
import sdkSamples from './sdk-samples.json' with { type: 'json' }
import type { DocumentPage } from './site.ts'

/** Texts around the errors in the page and the document; code is in backquotes. */
export interface ErrorWords {
  readonly title: string
  readonly intro: string
  readonly columns: readonly [code: string, status: string, message: string]
  readonly whatToDo: string
  readonly answeredBy: string
  /** Sets of endpoints that answer the same error for the same reason. */
  readonly everyEndpoint: Readonly<Record<EndpointGroup, string>>
  readonly unknownPaths: string
  readonly everyPath: string
}

export type EndpointGroup = 'all' | 'withCredentials' | 'withBody' | 'withBodyOfClients'

/** @source rules#reference.3 */
export const errorWords: Readonly<Record<Language, ErrorWords>> = {
  en: {
    title: 'Errors',
    intro:
      'Every error is `application/problem+json`. Decide on its `code`, which never changes its meaning. `message`, which also stands in `detail`, is for people: it is exactly the text below, unless it names the faulty field. `errors` names the faulty fields, and `correlationId` is what the log of the service has it under. `type` is the address of the error’s section at the service itself: `/docs/errors#duplicate_external_id`.',
    columns: ['code', 'HTTP', 'message'],
    whatToDo: 'What to do:',
    answeredBy: 'Answered by',
    everyEndpoint: {
      all: 'every endpoint',
      withCredentials: 'every endpoint that asks for credentials',
      withBody: 'every endpoint that takes a body',
      withBodyOfClients: 'every endpoint that takes a body, but for the bank’s events',
    },
    unknownPaths: 'paths that do not exist',
    everyPath: 'every path, for the methods that it does not have',
  },
  'pt-BR': {
    title: 'Erros',
    intro:
      'Todo erro é `application/problem+json`. Decida pelo `code`, cujo significado nunca muda. `message`, que também está em `detail`, é para pessoas: é exatamente o texto abaixo, a não ser que indique o campo com problema. `errors` indica os campos com problema, e `correlationId` é como o log do serviço registra o erro. `type` é o endereço da seção do erro no próprio serviço: `/docs/errors#duplicate_external_id`.',
    columns: ['código', 'HTTP', 'mensagem'],
    whatToDo: 'O que fazer:',
    answeredBy: 'Respondido por',
    everyEndpoint: {
      all: 'todos os endpoints',
      withCredentials: 'todos os endpoints que pedem credenciais',
      withBody: 'todos os endpoints que recebem um corpo',
      withBodyOfClients: 'todos os endpoints que recebem um corpo, exceto o dos eventos do banco',
    },
    unknownPaths: 'caminhos que não existem',
    everyPath: 'todos os caminhos, nos métodos que eles não têm',
  },
}

export interface ErrorEntry {
  readonly code: ErrorCode
  readonly status: number
  readonly title: string
  /** The exact text, unless the answer names the faulty field. */
  readonly message: string
  readonly cause: string
  readonly cure: string
  /** Operations such as `POST /webhook`, or a sentence for a whole set. */
  readonly answeredBy: readonly string[] | string
}

const HELP = { en: errorHelp, 'pt-BR': errorHelpPtBr }

/**
 * Documentation of every error. Title and message are the service's own in any language.
 * @param all the endpoints that may answer them
 * @source rules#reference.3
 */
export function errorEntries(all: readonly Endpoint[], language: Language): readonly ErrorEntry[] {
  return (Object.keys(errors) as ErrorCode[]).map((code) => {
    const { status, title, message } = errors[code]
    return {
      code,
      status,
      title,
      message,
      ...HELP[language][code],
      answeredBy: answeredBy(code, all, errorWords[language]),
    }
  })
}

/** Members of the sets; the first matching set is named. */
const GROUPS: readonly (readonly [EndpointGroup, isMember: (endpoint: Endpoint) => boolean])[] = [
  ['all', () => true],
  // The log-in has them in its body.
  ['withCredentials', ({ auth, id }) => auth !== 'none' || id === 'startSession'],
  ['withBody', ({ body }) => body !== undefined],
  ['withBodyOfClients', ({ body, auth }) => body !== undefined && auth !== 'partner'],
]

function answeredBy(code: ErrorCode, all: readonly Endpoint[], words: ErrorWords): readonly string[] | string {
  const answering = all.filter((endpoint) => errorsOf(endpoint).includes(code))
  const [group] =
    GROUPS.find(([, isMember]) => all.every((endpoint) => isMember(endpoint) === answering.includes(endpoint))) ?? []
  if (group !== undefined && answering.length > 0) return words.everyEndpoint[group]
  // Errors independent of endpoints.
  const elsewhere: Partial<Record<ErrorCode, string>> = {
    not_found: words.unknownPaths,
    method_not_allowed: words.everyPath,
  }
  return [...answering.map(({ method, path }) => `${method} ${path}`), elsewhere[code] ?? []].flat()
}

/**
 * The page behind the `type` of every problem: a section per code, with the code as anchor.
 * @source rules#reference.3
 */
export function errorsPage(endpoints: readonly Endpoint[], language: Language): Page {
  const entries = errorEntries(endpoints, language)
  const words = errorWords[language]
  return {
    path: ERRORS_PAGES[language],
    title: words.title,
    language,
    twin: ERRORS_PAGES[language === 'en' ? 'pt-BR' : 'en'],
    body: html`<h1>${words.title}</h1>
<p>${prose(words.intro)}</p>
<table class="fields"><tr>${words.columns.map((column) => html`<th>${column}</th>`)}</tr>
${entries.map(
  ({ code, status, message }) =>
    html`<tr><td><a href="#${code}"><code>${code}</code></a></td><td>${status}</td><td>${message}</td></tr>\n`,
)}</table>
${entries.map((entry) => section(entry, words))}`,
  }
}

function section({ code, status, title, message, cause, cure, answeredBy }: ErrorEntry, words: ErrorWords): Html {
  return html`<section id="${code}">
<h2><code>${code}</code>${anchor(code)}</h2>
<p><strong>${status} ${title}</strong>: <q>${message}</q></p>
<p>${prose(cause)}</p>
<p><strong>${words.whatToDo}</strong> ${prose(cure)}</p>
<p class="quiet">${words.answeredBy} ${typeof answeredBy === 'string' ? answeredBy : answeredBy.join(', ')}.</p>
</section>
`
}

/**
 * From an empty sandbox to a paid charge and its statement, as shell commands. Sets the variables of the other commands.
 * @param url of a sandbox
 * @param operatorUrl of the operator's endpoints, if it differs
 * @param adminToken of the sandbox, or a placeholder
 * @source rules#reference.5, rules#operators.8
 */
export function firstSteps(url: string, operatorUrl: string | undefined, adminToken: string): string {
  const operators = operatorUrl === undefined ? '$PIXGATE_URL' : '$PIXGATE_OPERATOR_URL'
  return `PIXGATE_URL=${url}${operatorUrl === undefined ? '' : `\nPIXGATE_OPERATOR_URL=${operatorUrl}`}
PIXGATE_ADMIN_TOKEN=${adminToken}

# An API key: shown this once
PIXGATE_API_KEY=$(curl -sS -X POST "${operators}/api-key/generate" -H "Authorization: Bearer $PIXGATE_ADMIN_TOKEN" \\
  | grep -o 'pix_[a-z]*_[0-9A-Za-z]*'); echo "$PIXGATE_API_KEY"

# A charge of R$ 150,00
CASH_IN_ID=$(curl -sS "$PIXGATE_URL/api/pix/cash-in" -H "Authorization: Bearer $PIXGATE_API_KEY" \\
  -H 'Content-Type: application/json' -d '{"transaction":{"value":150.00,"externalId":"order-'$(date +%s)'"}}' \\
  | grep -o '"id":"[^"]*' | cut -d'"' -f4); echo "$CASH_IN_ID"

# The simulated bank's customer pays it
curl -sS -X POST "$PIXGATE_URL/sandbox/cash-in/$CASH_IN_ID/pay" -H "Authorization: Bearer $PIXGATE_API_KEY"; echo

# A moment later it is PAID
sleep 1; curl -sS "$PIXGATE_URL/api/pix/cash-in/$CASH_IN_ID" -H "Authorization: Bearer $PIXGATE_API_KEY"; echo

# Today is closed before its end, once a day, and its statement is a file (OFX: /ofx)
curl -sS -X POST "$PIXGATE_URL/sandbox/close" -H "Authorization: Bearer $PIXGATE_API_KEY"; echo
CLOSE_ID=$(curl -sS "${operators}/operator/closes?limit=1" -H "Authorization: Bearer $PIXGATE_ADMIN_TOKEN" \\
  | grep -o '"id":"[^"]*' | cut -d'"' -f4)
curl -sS "${operators}/operator/closes/$CLOSE_ID/csv" -H "Authorization: Bearer $PIXGATE_ADMIN_TOKEN"`
}

/** The first steps on a page, with the place of the token. @param steps see {@link firstSteps} */
function firstStepsSection(steps: string): Html {
  return html`<h2 id="first-steps">First steps</h2>
<p><code>PIXGATE_ADMIN_TOKEN</code> is what this sandbox was configured with. Where it was not, the token stands in
<code>sandbox-secrets.json</code> of its data directory, <code>.pixgate</code>, as <code>adminToken</code>; on a terminal it was
printed at the start, too.</p>
<pre tabindex="0"><code>${steps}</code></pre>
`
}

/** The page at `/`, with links to all others. @param steps the first steps, if available */
export function homePage(isSandbox: boolean, steps: string | undefined): Page {
  return {
    path: '/',
    title: 'Pixgate',
    language: 'en',
    body: html`<h1>Pixgate</h1>
<p>This is a gateway for Pix, Brazil's instant payments: it makes charges, pays to keys and QR codes, refunds, reports each
outcome by signed notifications, and keeps the books. ${
      isSandbox
        ? html`This one is a <strong>sandbox</strong>: its bank is simulated, and no money moves.`
        : html`This one is in <strong>production</strong>.`
    } Version ${apiInfo.version}.</p>
<table class="fields"><tr><th>address</th><th>content</th></tr>
${PLACES.map(([path, what]) => html`<tr><td><a href="${path}">${path}</a></td><td>${what}</td></tr>\n`)}</table>
${steps === undefined ? undefined : firstStepsSection(steps)}`,
  }
}

/** First page in Portuguese, as the reference itself is in English. @param pages documents of the site */
export function guidesPage(pages: readonly DocumentPage[]): Page {
  const guides = pages.filter(({ group, language }) => group === 'guides' && language === 'pt-BR')
  return {
    path: START_PAGES['pt-BR'],
    title: 'Documentação',
    language: 'pt-BR',
    twin: START_PAGES.en,
    body: html`<h1>Documentação do Pixgate</h1>
<p>Um gateway de Pix de código aberto: cobranças, pagamentos, devoluções, notificações assinadas e a escrituração de tudo.</p>
<ul>${guides.map(({ path, title }) => html`<li><a href="${path}">${title}</a></li>\n`)}
<li><a href="${ERRORS_PAGES['pt-BR']}">${errorWords['pt-BR'].title}</a></li>
<li><a href="${START_PAGES.en}" hreflang="en">Referência da API</a>, em inglês</li></ul>`,
  }
}

const PLACES = [
  ['/docs', 'The reference: every endpoint, its fields and answers, with commands to try'],
  ['/docs/errors', 'Every error: its cause and its cure'],
  ['/docs/erros', 'The same in Portuguese'],
  ['/openapi.json', 'The OpenAPI document, for client generators, viewers and tests'],
  ['/collection.json', 'The same as a collection for Postman, Bruno or Insomnia'],
  ['/llms.txt', 'Instructions for a language model that writes a client'],
  ['/public-key', 'The key that verifies the signature of notifications'],
  ['/public-keys', 'All keys that may, by id: also the one that will sign next'],
  ['/healthz', 'Whether this process lives'],
  ['/readyz', 'Whether it can serve, or why not'],
] as const

export interface Field {
  /** Path: `transaction.value`, `data[].id`. */
  readonly path: string
  readonly type: string
  readonly isRequired: boolean
  readonly description: string
  readonly schemaTitle?: string
}

export interface Schema {
  readonly type?: string
  readonly format?: string
  readonly title?: string
  readonly description?: string
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly anyOf?: readonly Schema[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly items?: Schema
  readonly minimum?: number
  readonly maximum?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly default?: unknown
}

function fieldsOf(schema: Schema, path = ''): readonly Field[] {
  const inner = schema.items ?? schema.anyOf?.find(({ properties }) => properties !== undefined)
  if (schema.properties === undefined) {
    return inner === undefined ? [] : fieldsOf(inner, schema.items === undefined ? path : `${path}[]`)
  }
  const { properties, required = [] } = schema
  return Object.entries(properties).flatMap(([name, field]) => {
    const at = path === '' ? name : `${path}.${name}`
    return [fieldOf(at, field, required.includes(name)), ...fieldsOf(field, at)]
  })
}

function fieldOf(path: string, schema: Schema, isRequired: boolean): Field {
  const value = schema.default === undefined ? '' : `Default: \`${String(schema.default)}\`.`
  const { description = '' } = schema.anyOf?.find((option) => option.description !== undefined) ?? schema
  const text = [description, value].filter(Boolean).join('. ')
  return {
    path,
    type: typeOf(schema),
    isRequired,
    description: text,
    ...(schema.title && { schemaTitle: schema.title }),
  }
}

/** A type in words: `string, 1 to 140 characters`, `one of PAID, FAILED`, `integer or null`. */
function typeOf(schema: Schema): string {
  if (schema.anyOf) return schema.anyOf.map(typeOf).join(' or ')
  if (schema.enum) return `${schema.enum.length > 1 ? 'one of' : 'always'} ${schema.enum.join(', ')}`
  if (schema.const !== undefined) return `always ${String(schema.const)}`
  if (schema.type === 'array') return `list of ${typeOf(schema.items ?? {})}`
  const bounds = schema.type === 'string' ? lengthOf(schema) : rangeOf(schema)
  const { type = 'anything', format } = schema
  return [type === 'string' ? (format ?? type) : type, bounds].filter(Boolean).join(', ')
}

function lengthOf({ format, minLength = 0, maxLength }: Schema): string {
  if (format !== undefined || maxLength === undefined) return ''
  return minLength > 0 ? `${minLength} to ${maxLength} characters` : `at most ${maxLength} characters`
}

/** Bounds of a number. Omitted for amounts, whose maximum is the largest exact integer. */
function rangeOf({ minimum, maximum }: Schema): string {
  if (minimum === undefined || maximum === undefined || maximum === Number.MAX_SAFE_INTEGER) return ''
  return `${minimum} to ${maximum}`
}

const ESCALATE_MINUTES = limits.unknownResultEscalationMs / 60_000

/** Advice for clients about states and notifications, in the specification's words. @source rules#reference.9 */
export const clientRules: readonly string[] = [
  'GET by id is the authoritative view. Notifications come at least once and in any order. Where GET is ahead of a notification, trust GET; where a notification is ahead of GET, wait a few seconds and read again.',
  `\`PROVIDER_RESULT_UNKNOWN\` is not a failure: read it every 60 seconds, and escalate after ${ESCALATE_MINUTES} minutes without an outcome.`,
  '`RECONCILIATION_REQUIRED`: open a support ticket with the `id` and the `X-Correlation-ID`, and do not conclude the operation in your systems.',
  '`RELEASED`: a payout that was never sent; its money is free again, and its notification says `FAILED`. A status that you do not know is none of these: wait, and read again.',
]

const RESOURCES: Readonly<Record<string, Pick<Machine, 'states' | 'meanings'> & { readonly name: string }>> = {
  CashInStatus: { name: 'Cash-in', ...cashIn },
  CashOutStatus: { name: 'Cash-out', ...cashOut },
  RefundInStatus: { name: 'Refund-in', ...refundIn },
}

/** Whether a schema's values are explained in the section, with its title as the anchor. */
function isExplained(schemaTitle: string): boolean {
  return Object.hasOwn(RESOURCES, schemaTitle)
}

/** The meaning of each status for a client. @source rules#reference.9 */
function statesSection(): Html {
  return html`<h2 id="states">States</h2>
<ul>${clientRules.map((rule) => html`<li>${prose(rule)}</li>\n`)}</ul>
${Object.entries(RESOURCES).map(
  ([title, { name, states, meanings }]) => html`<h3 id="${title}">${name}</h3>
<table class="fields"><tr><th>status</th><th>what it means</th></tr>
${states.map((state) => html`<tr><td><code>${state}</code></td><td>${prose(meanings[state] ?? '')}</td></tr>\n`)}</table>
`,
)}`
}

const ANSWER_SECONDS = limits.webhookTimeoutMs / 1_000
const KEY_MINUTES = limits.publicKeyMaxAgeSeconds / 60
const RETRIED = limits.webhookRetriedStatuses.join(', ')

const STEPS = [
  'Keep the bytes of the body as they came: the signature is over them. Do not parse the body and write it again.',
  `Verify. \`Digital-Signature\` is the Base64 of the DER form of an ECDSA P-256 signature with SHA-256. The key is the one of \`GET /public-keys\`, PEM, without a token, that \`Digital-Signature-Key-Id\` names; keep them for ${KEY_MINUTES} minutes and no longer. Where it names none of them, fetch them once more, at most once a second; where it still does not, or the signature does not verify, answer 401. \`GET /public-key\` is the current one alone: fetch it again where a signature does not verify.`,
  'Or verify `webhook-signature` with the `secret` that `POST /webhook` answered, as any library of Standard Webhooks does: it covers the id and the time too, and what is sent again after five minutes is refused.',
  `Answer any 2xx within ${ANSWER_SECONDS} seconds, with or without a body, and do the work afterwards.`,
  'Act once on each `webhook-id`: the same notification may come again, with the same id and the same bytes. It may also come before or after others; GET by id is the authoritative view.',
]

const VERIFYING = `import { createPublicKey, verify } from 'node:crypto'

// pem: the publicKey that Digital-Signature-Key-Id names; rawBody: a Buffer with the bytes of the body
const signature = Buffer.from(request.headers['digital-signature'], 'base64')
const isAuthentic = verify('sha256', rawBody, createPublicKey(pem), signature)`

/** Retries by kind of answer. @source rules#webhooks.6, rules#webhooks.7 */
function attempts(): readonly (readonly [answer: string, becomes: string])[] {
  const waits = limits.webhookRetryDelaysMs.map(durationText)
  const hours = Math.round(limits.webhookRetryDelaysMs.reduce((sum, delay) => sum + delay, 0) / 3_600_000)
  return [
    ['any 2xx', 'delivered'],
    [
      `5xx, no connection, more than ${ANSWER_SECONDS} seconds, or ${RETRIED}`,
      `${waits.length + 1} attempts over about ${hours} hours: at once, then after ${waits.join(', ')}`,
    ],
    ['another 4xx, or a 3xx, which is never followed', `the first ${limits.webhookShortScheduleAttempts} of these`],
  ]
}

/** `90000` → `90 s`, `120000` → `2 min`, `3600000` → `1 h`. */
function durationText(ms: number): string {
  if (ms % 3_600_000 === 0) return `${ms / 3_600_000} h`
  return ms % 60_000 === 0 ? `${ms / 60_000} min` : `${ms / 1_000} s`
}

/**
 * Instructions for a receiver of notifications.
 * @param headers table of the notification's headers
 * @source rules#reference.10
 */
function receiverSection(headers: Html | undefined): Html {
  return html`<ol>${STEPS.map((step) => html`<li>${prose(step)}</li>\n`)}</ol>
<p>With Node:</p>
<pre tabindex="0"><code>${VERIFYING}</code></pre>
${headers}
<table class="fields"><tr><th>Your answer</th><th>what becomes of it</th></tr>
${attempts().map(([answer, becomes]) => html`<tr><td>${answer}</td><td>${becomes}</td></tr>\n`)}</table>
<p>Each wait begins when the attempt before has ended, and is up to a tenth longer. <code>Retry-After</code> of a 429 or 503 is
heeded.</p>
`
}

/**
 * The page at `/docs`: every endpoint by tag, and the notifications.
 * @param steps the first steps, if available
 * @param isApart whether the operator's endpoints have their own address
 * @source rules#reference.4, rules#operators.8
 */
export function referencePage(endpoints: readonly Endpoint[], steps: string | undefined, isApart: boolean): Page {
  const groups = Object.entries(tags)
    .map(([tag, description]) => ({ tag, description, members: endpoints.filter((endpoint) => endpoint.tag === tag) }))
    .filter(({ tag, members }) => members.length > 0 || tag === NOTIFICATIONS)
  return {
    path: START_PAGES.en,
    title: 'API reference',
    language: 'en',
    body: html`<h1>API reference</h1>
${apiInfo.description.split('\n\n').map((paragraph) => html`<p>${prose(paragraph)}</p>\n`)}
${steps === undefined ? undefined : firstStepsSection(steps)}
<p>The commands of this page use <code>$PIXGATE_URL</code>, the address of the service, <code>$PIXGATE_API_KEY</code> and
<code>$PIXGATE_ADMIN_TOKEN</code>; <code>$CASH_OUT_ID</code> and its like stand for the <code>id</code> that an answer told.${
      isApart
        ? html` What needs an operator is answered at <code>$PIXGATE_OPERATOR_URL</code>, the port
<code>PIXGATE_OPERATOR_PORT</code>, and is 404 here.`
        : undefined
    }</p>
<p>The TypeScript samples are the examples of <code>@pixgate/sdk</code>. <code>pixgate</code> is its <code>new Pixgate()</code>,
<code>operator</code> its <code>new PixgateOperator()</code>; <code>charge</code>, <code>payout</code> and similar names are results of earlier
calls.</p>
${statesSection()}
${groups.map(
  ({ tag, description, members }) => html`<h2 id="${anchorOf(tag)}">${tag}</h2>
<p>${prose(description)}</p>
${tag === NOTIFICATIONS ? [receiverSection(webhookHeaderTable()), ...eventTypes.map(notification)] : members.map((endpoint) => operation(endpoint, isApart))}`,
)}`,
  }
}

const NOTIFICATIONS = 'Notifications' satisfies keyof typeof tags

function anchorOf(tag: string): string {
  return tag.toLowerCase().replaceAll(' ', '-')
}

function callerOf(endpoint: Endpoint, isApart: boolean): Html {
  const where = isApart && isForOperators(endpoint) ? ' Answered at the operator’s port.' : undefined
  switch (endpoint.auth) {
    case 'api-key':
      return html`Needs an API key with the scope <code>${endpoint.scope}</code>.`
    case 'admin':
      return html`Needs an operator who is <code>${neededRoles(endpoint.role).join(' or ')}</code> at least, or the administrative token.${where}`
    case 'partner':
      return html`Signed by the bank.`
    case 'none':
      return html`Needs no key.${where}`
  }
}

function operation(endpoint: Endpoint, isApart: boolean): Html {
  const { id, method, path, summary, description, params, query, body, headers = {}, responses } = endpoint
  const answers = Object.entries(responses)
  return html`<section id="${id}">
<h3>${summary}${anchor(id)}</h3>
<p class="call"><span class="method ${method.toLowerCase()}">${method}</span> <code>${path}</code></p>
<div class="columns"><div>
<p>${prose(description ?? '')} <span class="quiet">${callerOf(endpoint, isApart)}</span></p>
${fieldTable('Path', params)}${fieldTable('Query', query)}${headerTable(headers)}${fieldTable('Body', body)}
${answers.map(
  ([status, { description: what, schema, headers: own }]) =>
    html`<details><summary><strong>${status}</strong> ${prose(what)}</summary>
${fieldTable('Headers', answerHeaders(own))}${fieldTable('Answer', schema)}</details>
`,
)}${problems(errorsOf(endpoint))}
</div><div class="samples">
${samples(endpoint, isApart)}
${answers.map(([status, { example }]) => (example === undefined ? undefined : sample(`${status}`, typeof example === 'string' ? example : JSON.stringify(example, null, 2))))}
</div></div>
</section>
`
}

/** Calls of an operation, one after the other; the script of the page shows one language at a time. */
function samples(endpoint: Endpoint, isApart: boolean): readonly Html[] {
  const calls = [
    ['curl', curlOf(endpoint, isApart)],
    ['TypeScript', (sdkSamples as Readonly<Record<string, string>>)[endpoint.id]],
  ] as const
  return calls.flatMap(([language, text]) =>
    text === undefined ? [] : [sample(language, text, html` data-language="${language}"`)],
  )
}

function sample(label: string, text: string, attributes?: Html): Html {
  return html`<figure${attributes}><figcaption>${label}</figcaption>${code(text)}</figure>
`
}

/** The address of a section, for its heading. */
function anchor(id: string): Html {
  return html` <a class="anchor" href="#${id}" aria-label="#${id}">#</a>`
}

function notification(type: EventType): Html {
  const { description = '' } = eventSchemas[type] as Schema
  return html`<section id="${type}">
<h3><code>${type}</code>${anchor(type)}</h3>
<p class="call"><span class="method post">POST</span> to your receiver</p>
<p>${prose(description)}</p>
${code(JSON.stringify(eventExamples[type], null, 2))}
${fieldTable('Body', eventSchemas[type])}
</section>
`
}

function problems(codes: readonly ErrorCode[]): Html {
  const sorted = codes.toSorted((one, other) => errors[one].status - errors[other].status)
  return html`<details><summary>Errors</summary>
<table class="fields"><tr><th>HTTP</th><th>code</th><th>message</th></tr>
${sorted.map(
  (name) =>
    html`<tr><td>${errors[name].status}</td><td><a href="/docs/errors#${name}"><code>${name}</code></a></td><td>${errors[name].message}</td></tr>\n`,
)}</table></details>`
}

function webhookHeaderTable(): Html | undefined {
  const properties = webhookHeaders.map(({ name, description, schema }) => [name, { ...schema, description }])
  return fieldTable('Headers', {
    properties: Object.fromEntries(properties),
    required: webhookHeaders.filter(({ required }) => required).map(({ name }) => name),
  })
}

function headerTable(headers: Readonly<Record<string, unknown>>): Html | undefined {
  return fieldTable('Headers', Object.keys(headers).length === 0 ? undefined : { properties: headers as never })
}

function answerHeaders(names: readonly ResponseHeader[] = []): Schema {
  const properties = names.map((name) => {
    const { schema, description } = responseHeaders[name]
    return [name, { ...(schema as Schema), description }]
  })
  return {
    properties: Object.fromEntries(properties),
    required: names.filter((name) => responseHeaders[name].isAlwaysThere),
  }
}

function fieldTable(title: string, schema: Schema | undefined): Html | undefined {
  const fields = schema === undefined ? [] : fieldsOf(schema)
  if (fields.length === 0) return undefined
  return html`<table class="fields"><tr><th>${title}</th><th>type</th><th>meaning</th></tr>
${fields.map(fieldRow)}</table>
`
}

function fieldRow({ path, type, isRequired, description, schemaTitle = '' }: Field): Html {
  const what = isExplained(schemaTitle) ? html`<a href="#${schemaTitle}">What each means</a>` : prose(description)
  return html`<tr><td><code>${path.split('.').flatMap((part, index) => (index === 0 ? part : [{ html: '.<wbr>' }, part]))}</code></td><td>${type}${isRequired ? undefined : html` <span class="quiet">optional</span>`}</td><td>${what}</td></tr>
`
}

function code(text: string): Html {
  return html`<pre tabindex="0"><code>${text}</code></pre>`
}
