import { type Endpoint, errors, eventTypes, tags } from '@pixgate/spec'
import { type Html, html } from '../platform/http/html.ts'
import type { DocumentPage, Site } from './site.ts'

/** Frame of all pages: header, menu, search, policy. */

/** Language of a page. */
export type Language = 'en' | 'pt-BR'

/** Text with `code` and **strong** words. */
export function prose(text: string): Html {
  const pieces = text.split(/(`[^`]+`|\*\*[^*]+\*\*)/).map((piece) => {
    if (piece.startsWith('`')) return html`<code>${piece.slice(1, -1)}</code>`
    return piece.startsWith('**') ? html`<strong>${piece.slice(2, -2)}</strong>` : piece
  })
  return html`${pieces}`
}

export interface Page {
  readonly path: string
  readonly title: string
  readonly language: Language
  readonly body: Html
  /** The same page in the other language. */
  readonly twin?: string | undefined
  /** Headings for the list beside the content. */
  readonly sections?: DocumentPage['sections']
}

/** Path of the errors page by language; `type` names the English one. */
export const ERRORS_PAGES: Readonly<Record<Language, string>> = { en: '/docs/errors', 'pt-BR': '/docs/erros' }

/** First page by language. The reference itself is in English. */
export const START_PAGES: Readonly<Record<Language, string>> = { en: '/docs', 'pt-BR': '/docs/guias' }

export const SEARCH_INDEXES: Readonly<Record<Language, string>> = {
  en: '/docs/search/en.json',
  'pt-BR': '/docs/search/pt-BR.json',
}

const WORDS = {
  en: {
    skip: 'Skip to the content',
    menu: 'Menu',
    contents: 'Contents',
    search: 'Search',
    searchFor: 'Search operations, errors, events and guides',
    none: 'Nothing found.',
    copy: 'Copy',
    copied: 'Copied',
    onThisPage: 'On this page',
    documents: 'Formats',
    start: 'Start',
    reference: 'API reference',
    firstSteps: 'First steps',
    states: 'States',
    errors: 'Errors',
    byCode: 'By code',
    guides: 'Guides',
    tables: 'Tables',
    inside: 'Inside Pixgate',
    otherLanguage: 'Português',
  },
  'pt-BR': {
    skip: 'Ir para o conteúdo',
    menu: 'Menu',
    contents: 'Conteúdo',
    search: 'Buscar',
    searchFor: 'Buscar operações, erros, eventos e guias',
    none: 'Nada encontrado.',
    copy: 'Copiar',
    copied: 'Copiado',
    onThisPage: 'Nesta página',
    documents: 'Formatos',
    start: 'Início',
    reference: 'Referência da API (em inglês)',
    firstSteps: 'Primeiros passos',
    states: 'Estados',
    errors: 'Erros',
    byCode: 'Por código',
    guides: 'Guias',
    tables: 'Tabelas (em inglês)',
    inside: 'Por dentro do Pixgate (em inglês)',
    otherLanguage: 'English',
  },
} as const satisfies Record<Language, Record<string, string>>

/**
 * Policy of the pages: their own script, style and search index, nothing from elsewhere.
 * @param isShared whether the operators' endpoints have the same address. The page then has no origin, so that no script in
 *   it can act with the console's cookie.
 * @source rules#reference.2
 */
export function contentSecurityPolicy(isShared: boolean): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "connect-src 'self'",
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
    ...(isShared ? ['sandbox allow-scripts'] : []),
  ].join('; ')
}

/**
 * Writes pages of this service.
 * @param hasFirstSteps whether `/docs` has that section
 * @source rules#reference.16
 */
export function createFrame(endpoints: readonly Endpoint[], { pages, assets }: Site, hasFirstSteps: boolean) {
  const menus = {
    en: menuOf(endpoints, pages, 'en', hasFirstSteps),
    'pt-BR': menuOf(endpoints, pages, 'pt-BR', hasFirstSteps),
  }
  const head = assets.map(({ path }) =>
    path.endsWith('.js') ? html`<script defer src="${path}"></script>` : html`<link rel="stylesheet" href="${path}">`,
  )

  return ({ path, title, language, body, twin, sections = [] }: Page): string => {
    const words = WORDS[language]
    const other = language === 'en' ? 'pt-BR' : 'en'
    const listed = sections.filter(({ level }) => level === 2 || level === 3)
    return html`<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title === 'Pixgate' ? title : `${title} · Pixgate`}</title>
<link rel="icon" href="data:,">
${head}
</head>
<body data-index="${SEARCH_INDEXES[language]}" data-copy="${words.copy}" data-copied="${words.copied}" data-none="${words.none}">
<a class="skip" href="#content">${words.skip}</a>
<header>
<button class="menu" popovertarget="menu">${words.menu}</button>
<a class="brand" href="${START_PAGES[language]}">Pixgate</a>
<button class="search" hidden>${words.search} <kbd>/</kbd></button>
<a class="wide-only" href="/openapi.json">OpenAPI</a>
<a class="wide-only" href="/collection.json">Postman</a>
<a href="${twin ?? START_PAGES[other]}" lang="${other}" hreflang="${other}">${words.otherLanguage}</a>
</header>
<nav id="menu" popover aria-label="${words.contents}" data-path="${path}">
${menus[language]}
</nav>
<main id="content"${path === START_PAGES.en ? html` class="reference"` : undefined}>
${body}
</main>
${
  listed.length > 2
    ? html`<aside aria-label="${words.onThisPage}"><h2>${words.onThisPage}</h2><ul>${listed.map(
        ({ id, title, level }) =>
          html`<li${level === 3 ? html` class="inner"` : undefined}><a href="#${id}">${title}</a></li>\n`,
      )}</ul></aside>`
    : undefined
}
<dialog aria-label="${words.search}"><input type="text" placeholder="${words.searchFor}" aria-label="${words.searchFor}" autocomplete="off" spellcheck="false"><p role="status"></p><ol></ol></dialog>
</body>
</html>
`.html
  }
}

/** @param hasFirstSteps whether `/docs` has that section */
function menuOf(
  endpoints: readonly Endpoint[],
  pages: readonly DocumentPage[],
  language: Language,
  hasFirstSteps: boolean,
): Html {
  const words = WORDS[language]
  const group = (name: DocumentPage['group']) =>
    pages
      // Without a Portuguese version a document is listed in English.
      .filter((page) => page.group === name && (page.language === language || page.twin === undefined))
      .map(({ path, title, language: own }) => item(path, title, own === language ? undefined : own))
  const english = language === 'en' ? undefined : 'en'
  return html`<ul>
${item(START_PAGES[language], language === 'en' ? words.reference : words.start)}${
  language === 'en' && hasFirstSteps ? item('/docs#first-steps', words.firstSteps) : undefined
}${item(ERRORS_PAGES[language], words.errors)}</ul>
${list(words.guides, group('guides'))}
<h2>${words.reference}</h2>
<ul>${item('/docs#states', words.states, english)}</ul>
${operationsByTag(endpoints).map(({ tag, items }) => html`<details name="tag"><summary${lang(english)}>${tag}</summary><ul${lang(english)}>${items}</ul></details>\n`)}
${list(words.errors, [
  html`<li><details><summary>${words.byCode}</summary><ul>${Object.keys(errors).map((code) =>
    item(`${ERRORS_PAGES[language]}#${code}`, code),
  )}</ul></details></li>`,
])}
${list(words.tables, group('tables'))}
${list(words.inside, group('inside'))}`
}

function list(title: string, items: readonly Html[]): Html | undefined {
  return items.length === 0 ? undefined : html`<h2>${title}</h2>\n<ul>${items}</ul>`
}

function lang(language: Language | undefined): Html | undefined {
  return language && html` lang="${language}"`
}

function item(path: string, text: string | Html, language?: Language): Html {
  return html`<li><a href="${path}"${lang(language)}>${text}</a></li>\n`
}

/** Operations and notifications as items of the menu. */
function operationsByTag(endpoints: readonly Endpoint[]) {
  return Object.keys(tags).flatMap((tag) => {
    const items =
      tag === 'Notifications'
        ? eventTypes.map((type) => item(`/docs#${type}`, html`<code>${type}</code>`))
        : endpoints
            .filter((endpoint) => endpoint.tag === tag)
            .map(({ id, method, summary }) =>
              item(`/docs#${id}`, html`${summary} <span class="method ${method.toLowerCase()}">${method}</span>`),
            )
    return items.length === 0 ? [] : [{ tag, items }]
  })
}
