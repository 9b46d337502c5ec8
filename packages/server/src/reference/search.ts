import { type Endpoint, eventSchemas, eventTypes } from '@pixgate/spec'
import type { Language } from './frame.ts'
import { ERRORS_PAGES } from './frame.ts'
import { errorEntries, type Schema } from './pages.ts'
import type { DocumentPage } from './site.ts'

/** Index for the search of the pages: operations, notifications, errors, and the sections of the guides and tables. */

/** An answer of the search. */
export interface Found {
  readonly url: string
  readonly title: string
  /** Where it stands: the page, or the kind of entry. */
  readonly at: string
  readonly text: string
}

const KINDS = {
  en: { operation: 'Operation', notification: 'Notification', error: 'Error' },
  'pt-BR': { operation: 'Operação', notification: 'Notificação', error: 'Erro' },
} as const

/** Everything that is found in a language. @source rules#reference.15 */
export function searchIndex(
  endpoints: readonly Endpoint[],
  pages: readonly DocumentPage[],
  language: Language,
): readonly Found[] {
  const kinds = KINDS[language]
  return [
    ...endpoints.map(({ id, method, path, summary, description = '' }) => ({
      url: `/docs#${id}`,
      title: summary,
      at: `${kinds.operation} · ${method} ${path}`,
      text: plain(`${id} ${description}`),
    })),
    ...eventTypes.map((type) => ({
      url: `/docs#${type}`,
      title: type,
      at: kinds.notification,
      text: plain((eventSchemas[type] as Schema).description ?? ''),
    })),
    ...errorEntries(endpoints, language).map(({ code, status, title, message, cause, cure }) => ({
      url: `${ERRORS_PAGES[language]}#${code}`,
      title: code,
      at: `${kinds.error} · ${status} ${title}`,
      text: plain([message, cause, cure].join(' ')),
    })),
    ...pages
      .filter(
        ({ group, twin, language: own }) =>
          (group === 'guides' || group === 'tables') && (own === language || twin === undefined),
      )
      .flatMap(sectionsOf),
  ]
}

/** Without the marks of {@link prose}. */
function plain(text: string): string {
  return text.replaceAll(/`|\*\*/g, '')
}

function sectionsOf({ path, title: page, sections }: DocumentPage): readonly Found[] {
  const above: string[] = []
  return sections.map(({ level, id, title, text }) => {
    above.splice(level - 1, above.length, title)
    const at = above.slice(0, -1).filter(Boolean).join(' › ')
    return { url: level === 1 ? path : `${path}#${id}`, title: level === 1 ? page : title, at, text }
  })
}
