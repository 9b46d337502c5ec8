import { type Html, html } from '../platform/http/html.ts'

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
