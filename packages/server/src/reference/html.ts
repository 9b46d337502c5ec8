/** Templates of HTML that escape what is inserted. */

/** Escaped HTML, produced only by {@link html}. */
export interface Html {
  readonly html: string
}

/** Values for a template: text is escaped, HTML is not, lists are joined, `undefined` is empty. */
export type Inserted = string | number | Html | undefined | readonly Inserted[]

/** A template of HTML that escapes inserted text. */
export function html(parts: TemplateStringsArray, ...inserted: readonly Inserted[]): Html {
  return { html: parts.map((part, index) => part + written(inserted[index])).join('') }
}

function written(value: Inserted): string {
  if (value === undefined) return ''
  if (typeof value === 'object') return 'html' in value ? value.html : value.map(written).join('')
  return String(value).replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '')
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

export function prose(text: string): Html {
  const pieces = text.split(/(`[^`]+`|\*\*[^*]+\*\*)/).map((piece) => {
    if (piece.startsWith('`')) return html`<code>${piece.slice(1, -1)}</code>`
    return piece.startsWith('**') ? html`<strong>${piece.slice(2, -2)}</strong>` : piece
  })
  return html`${pieces}`
}

export type Language = 'en' | 'pt-BR'
