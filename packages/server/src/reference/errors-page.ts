import type { Endpoint } from '@pixgate/spec'
import { type ErrorEntry, errorEntries } from './error-entries.ts'
import { type Html, html, prose } from './html.ts'
import { page } from './page.ts'

/**
 * The page that the `type` of every problem leads to: a section for each code, anchored by it.
 * @source rules#reference.3
 */
export function errorsPage(endpoints: readonly Endpoint[]): string {
  const entries = errorEntries(endpoints)
  return page(
    'Errors · Pixgate',
    html`<h1>Errors</h1>
<p>Every error is <code>application/problem+json</code>. Decide on its <code>code</code>: it never changes its meaning.
<code>message</code>, which also stands in <code>detail</code>, is for people; <code>errors</code> names the faulty fields;
<code>correlationId</code> is what the log of the service has it under.</p>
<table><tr><th>code</th><th>HTTP</th><th>message</th></tr>
${entries.map(
  ({ code, status, message }) =>
    html`<tr><td><a href="#${code}"><code>${code}</code></a></td><td>${status}</td><td>${message}</td></tr>\n`,
)}</table>
${entries.map(section)}`,
  )
}

function section({ code, status, title, message, cause, cure, answeredBy }: ErrorEntry): Html {
  return html`<section id="${code}">
<h2><code>${code}</code></h2>
<p><strong>${status} ${title}</strong>: <q>${message}</q></p>
<p>${prose(cause)}</p>
<p><strong>What to do:</strong> ${prose(cure)}</p>
<p class="quiet">Answered by ${typeof answeredBy === 'string' ? answeredBy : answeredBy.join(', ')}.</p>
</section>
`
}
