import {
  type Endpoint,
  type ErrorCode,
  type EventType,
  errors,
  errorsOf,
  eventExamples,
  eventSchemas,
  eventTypes,
  neededRoles,
  type ResponseHeader,
  responseHeaders,
  tags,
} from '@pixgate/spec'
import { curlOf, isForOperators, webhookHeaders } from '../platform/http/openapi.ts'
import { type Field, fieldsOf, type Schema } from './fields.ts'
import { firstStepsSection } from './first-steps.ts'
import { type Html, html, prose } from './html.ts'
import { apiInfo } from './info.ts'
import { page } from './page.ts'
import { receiverSection } from './receiver-section.ts'
import { isExplained, statesSection } from './states-section.ts'

/**
 * The page at `/docs`: every endpoint by its tag, and the notifications.
 * @param steps the first steps, where they can be taken
 * @param isApart whether the operator's endpoints have an address of their own
 * @source rules#reference.4, rules#operators.8
 */
export function referencePage(endpoints: readonly Endpoint[], steps: string | undefined, isApart: boolean): string {
  const groups = Object.entries(tags)
    .map(([tag, description]) => ({ tag, description, members: endpoints.filter((endpoint) => endpoint.tag === tag) }))
    .filter(({ tag, members }) => members.length > 0 || tag === NOTIFICATIONS)
  return page(
    'Reference · Pixgate',
    html`<h1>Reference</h1>
${apiInfo.description.split('\n\n').map((paragraph) => html`<p>${prose(paragraph)}</p>\n`)}
<nav><a href="#states">States</a> ${groups.map(({ tag }) => html`<a href="#${anchorOf(tag)}">${tag}</a> `)}</nav>
${steps === undefined ? undefined : firstStepsSection(steps)}
<p>The commands of this page use <code>$PIXGATE_URL</code>, the address of the service, <code>$PIXGATE_API_KEY</code> and
<code>$PIXGATE_ADMIN_TOKEN</code>; <code>$CASH_OUT_ID</code> and its like stand for the <code>id</code> that an answer told.${
      isApart
        ? html` What needs an operator is answered at <code>$PIXGATE_OPERATOR_URL</code>, the port
<code>PIXGATE_OPERATOR_PORT</code>, and is 404 here.`
        : undefined
    }</p>
${statesSection()}
${groups.map(
  ({ tag, description, members }) => html`<h2 id="${anchorOf(tag)}">${tag}</h2>
<p>${prose(description)}</p>
${tag === NOTIFICATIONS ? [receiverSection(webhookHeaderTable()), ...eventTypes.map(notification)] : members.map((endpoint) => operation(endpoint, isApart))}`,
)}`,
  )
}

const NOTIFICATIONS = 'Notifications' satisfies keyof typeof tags

function anchorOf(tag: string): string {
  return tag.toLowerCase().replaceAll(' ', '-')
}

/** Who may call. */
function callerOf(endpoint: Endpoint, isApart: boolean): Html {
  switch (endpoint.auth) {
    case 'api-key':
      return html`Needs an API key with the scope <code>${endpoint.scope}</code>.`
    case 'admin':
      return html`Needs an operator who is <code>${neededRoles(endpoint.role).join(' or ')}</code> at least, or the administrative token.${isApart && isForOperators(endpoint) ? ' Answered at the operator’s port.' : undefined}`
    case 'partner':
      return html`Signed by the bank.`
    case 'none':
      return html`Needs no key.`
  }
}

function operation(endpoint: Endpoint, isApart: boolean): Html {
  const { id, method, path, summary, description, params, query, body, headers = {}, responses } = endpoint
  const curl = curlOf(endpoint, isApart)
  return html`<section id="${id}">
<h3><span class="method">${method}</span> <code>${path}</code></h3>
<p><strong>${summary}.</strong> ${prose(description ?? '')} <span class="quiet">${callerOf(endpoint, isApart)}</span></p>
${fieldTable('Path', params)}${fieldTable('Query', query)}${headerTable(headers)}${fieldTable('Body', body)}
${curl === undefined ? undefined : code(curl)}
${Object.entries(responses).map(
  ([
    status,
    { description: what, schema, example, headers: own },
  ]) => html`<details><summary><strong>${status}</strong> ${prose(what)}</summary>
${example === undefined ? undefined : code(typeof example === 'string' ? example : JSON.stringify(example, null, 2))}
${fieldTable('Headers', answerHeaders(own))}${fieldTable('Answer', schema)}</details>
`,
)}${problems(errorsOf(endpoint))}
</section>
`
}

function notification(type: EventType): Html {
  const { description = '' } = eventSchemas[type] as Schema
  return html`<section id="${type}">
<h3><span class="method">POST</span> <code>${type}</code> to your receiver</h3>
<p>${prose(description)}</p>
${code(JSON.stringify(eventExamples[type], null, 2))}
${fieldTable('Body', eventSchemas[type])}
</section>
`
}

/** By status, each code as a link to its cause and cure. */
function problems(codes: readonly ErrorCode[]): Html {
  const sorted = codes.toSorted((one, other) => errors[one].status - errors[other].status)
  return html`<details><summary>Errors</summary>
<table>${sorted.map(
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

/** Those that not every answer has. */
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
  return html`<table><tr><th>${title}</th><th>type</th><th></th></tr>
${fields.map(fieldRow)}</table>
`
}

function fieldRow({ path, type, isRequired, description, schemaTitle = '' }: Field): Html {
  const what = isExplained(schemaTitle) ? html`<a href="#${schemaTitle}">What each means</a>` : prose(description)
  return html`<tr><td><code>${path}</code></td><td>${type}${isRequired ? undefined : html` <span class="quiet">optional</span>`}</td><td>${what}</td></tr>
`
}

function code(text: string): Html {
  return html`<pre><code>${text}</code></pre>`
}
