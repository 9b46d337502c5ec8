/** Text that is HTML already. Only {@link html} makes it. */
export interface Html {
  readonly html: string
}

/** What may stand in a template: text is escaped, HTML is not, lists are joined, and nothing is nothing. */
export type Inserted = string | number | Html | undefined | readonly Inserted[]

/** A template of HTML: whatever is inserted as text shows as that text. */
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

/** A sentence of the specification, with its `code` and **bold** words. */
export function prose(text: string): Html {
  const pieces = text.split(/(`[^`]+`|\*\*[^*]+\*\*)/).map((piece) => {
    if (piece.startsWith('`')) return html`<code>${piece.slice(1, -1)}</code>`
    return piece.startsWith('**') ? html`<strong>${piece.slice(2, -2)}</strong>` : piece
  })
  return html`${pieces}`
}
