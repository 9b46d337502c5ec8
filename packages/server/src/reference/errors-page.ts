import type { Endpoint } from '@pixgate/spec'
import { type ErrorEntry, errorEntries } from './error-entries.ts'
import { type ErrorWords, errorWords, type Language } from './error-words.ts'
import { type Html, html, prose } from './html.ts'
import { page } from './page.ts'

/** Where the page is, in each language: what `type` names, and the same in Portuguese. */
export const ERRORS_PAGES: Readonly<Record<Language, string>> = { en: '/docs/errors', 'pt-BR': '/docs/erros' }

/**
 * The page that the `type` of every problem leads to: a section for each code, anchored by it.
 * @source rules#reference.3
 */
export function errorsPage(endpoints: readonly Endpoint[], language: Language): string {
  const entries = errorEntries(endpoints, language)
  const words = errorWords[language]
  return page(
    `${words.title} · Pixgate`,
    html`<h1>${words.title}</h1>
${otherLanguage(language)}
<p>${prose(words.intro)}</p>
<table><tr>${words.columns.map((column) => html`<th>${column}</th>`)}</tr>
${entries.map(
  ({ code, status, message }) =>
    html`<tr><td><a href="#${code}"><code>${code}</code></a></td><td>${status}</td><td>${message}</td></tr>\n`,
)}</table>
${entries.map((entry) => section(entry, words))}`,
    language,
  )
}

function otherLanguage(language: Language): Html {
  return language === 'en'
    ? html`<p><a href="${ERRORS_PAGES['pt-BR']}" lang="pt-BR" hreflang="pt-BR">Em português</a></p>`
    : html`<p><a href="${ERRORS_PAGES.en}" lang="en" hreflang="en">English</a></p>`
}

function section({ code, status, title, message, cause, cure, answeredBy }: ErrorEntry, words: ErrorWords): Html {
  return html`<section id="${code}">
<h2><code>${code}</code></h2>
<p><strong>${status} ${title}</strong>: <q>${message}</q></p>
<p>${prose(cause)}</p>
<p><strong>${words.whatToDo}</strong> ${prose(cure)}</p>
<p class="quiet">${words.answeredBy} ${typeof answeredBy === 'string' ? answeredBy : answeredBy.join(', ')}.</p>
</section>
`
}
