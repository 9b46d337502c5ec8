import { cashIn, cashOut, type Machine, refundIn } from '@pixgate/spec'
import { clientRules } from './client-rules.ts'
import { type Html, html, prose } from './html.ts'

/** What has a status, by the name of the schema of its statuses. */
const RESOURCES: Readonly<Record<string, Pick<Machine, 'states' | 'meanings'> & { readonly name: string }>> = {
  CashInStatus: { name: 'Cash-in', ...cashIn },
  CashOutStatus: { name: 'Cash-out', ...cashOut },
  RefundInStatus: { name: 'Refund-in', ...refundIn },
}

/** Whether the section explains the values of a schema, under its name as the anchor. */
export function isExplained(schemaTitle: string): boolean {
  return Object.hasOwn(RESOURCES, schemaTitle)
}

/** What each status means, and what a client does about it. @source rules#reference.9 */
export function statesSection(): Html {
  return html`<h2 id="states">States</h2>
<ul>${clientRules.map((rule) => html`<li>${prose(rule)}</li>\n`)}</ul>
${Object.entries(RESOURCES).map(
  ([title, { name, states, meanings }]) => html`<h3 id="${title}">${name}</h3>
<table><tr><th>status</th><th>what it means</th></tr>
${states.map((state) => html`<tr><td><code>${state}</code></td><td>${prose(meanings[state] ?? '')}</td></tr>\n`)}</table>
`,
)}`
}
