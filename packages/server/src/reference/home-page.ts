import { firstStepsSection } from './first-steps.ts'
import { html } from './html.ts'
import { apiInfo } from './info.ts'
import { page } from './page.ts'

/**
 * The page at `/`: what this is, and where things are.
 * @param steps the first steps, where they can be taken
 */
export function homePage(isSandbox: boolean, steps: string | undefined): string {
  return page(
    'Pixgate',
    html`<h1>Pixgate</h1>
<p>This is a gateway for Pix, Brazil's instant payments: it makes charges, pays to keys and QR codes, refunds, reports each
outcome by signed notifications, and keeps the books. ${
      isSandbox
        ? html`This one is a <strong>sandbox</strong>: its bank is simulated, and no money moves.`
        : html`This one is in <strong>production</strong>.`
    } Version ${apiInfo.version}.</p>
<table>
${PLACES.map(([path, what]) => html`<tr><td><a href="${path}">${path}</a></td><td>${what}</td></tr>\n`)}</table>
${steps === undefined ? undefined : firstStepsSection(steps)}`,
  )
}

const PLACES = [
  ['/docs', 'The reference: every endpoint, its fields and answers, with commands to try'],
  ['/docs/errors', 'Every error: its cause and its cure'],
  ['/docs/erros', 'The same in Portuguese'],
  ['/openapi.json', 'The OpenAPI document, for generators of clients, viewers and tests'],
  ['/collection.json', 'The same as a collection for Postman, Bruno or Insomnia'],
  ['/llms.txt', 'What a language model needs to know before it writes a client'],
  ['/public-key', 'The key that verifies the signature of notifications'],
  ['/public-keys', 'All keys that may, by id: also the one that will sign next'],
  ['/healthz', 'Whether this process lives'],
  ['/readyz', 'Whether it can serve, or why not'],
] as const
