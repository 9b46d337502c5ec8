import { posix } from 'node:path'
import MarkdownIt, { type Token } from 'markdown-it'
import packageJson from '../../package.json' with { type: 'json' }
import type { DocumentPage, DocumentSection } from '../../packages/server/src/reference/site.ts'
import { slugOf } from '../check/markdown.ts'
import type { SourceFile } from '../check/repository.ts'

/** Markdown documents as pages of the site. Raw HTML is escaped, but for the anchors of rules. */

/** Guides in the order of the site, and the tables that they link. Other documents are pages without a place in the menu. */
const GUIDES = [
  'webhook-receiver',
  'sdk',
  'bank-simulator',
  'operator',
  'banks',
  'rotation',
  'privacy',
  'high-availability',
]
const TABLES = ['config', 'states', 'cases', 'ledger']

/** Documents that the service serves itself. */
const SERVED: Readonly<Record<string, string>> = {
  'docs/generated/openapi.json': '/openapi.json',
  'docs/generated/postman-collection.json': '/collection.json',
  'docs/generated/errors.md': '/docs/errors',
  'docs/generated/errors.pt-BR.md': '/docs/erros',
  'llms.txt': '/llms.txt',
}

const REPOSITORY = packageJson.repository.url.replace(/^git\+|\.git$/g, '')

/** The page of a document: `docs/guides/banks.md` is `/docs/guides/banks`. */
function addressOf(path: string): string {
  const served = SERVED[path]
  if (served !== undefined) return served
  if (path.startsWith('docs/') && path.endsWith('.md')) return `/${path.replace(/(?:\/README)?\.md$/, '')}`
  return `${REPOSITORY}/${/\.\w+$/.test(path) ? 'blob' : 'tree'}/main/${path}`
}

/** Pages of all documents below `docs/` that the service does not write itself. */
export function pagesOf(documents: readonly SourceFile[]): DocumentPage[] {
  const paths = new Set(documents.map(({ path }) => path))
  return documents
    .filter(({ path }) => !(path in SERVED))
    .map((document) => pageOf(document, paths))
    .toSorted((one, other) => rankOf(one) - rankOf(other) || (one.path < other.path ? -1 : 1))
}

function rankOf({ path }: DocumentPage): number {
  const name = posix.basename(path).replace('.pt-BR', '')
  return [...GUIDES, ...TABLES].indexOf(name)
}

function groupOf(path: string): DocumentPage['group'] {
  const name = posix.basename(path).replace(/(?:\.pt-BR)?\.md$/, '')
  if (path.startsWith('docs/guides/')) return GUIDES.includes(name) ? 'guides' : 'inside'
  if (path.startsWith('docs/generated/')) return TABLES.includes(name) ? 'tables' : undefined
  return posix.dirname(path) === 'docs' || path === 'docs/adr/README.md' ? 'inside' : undefined
}

function pageOf({ path, text }: SourceFile, paths: ReadonlySet<string>): DocumentPage {
  const isPortuguese = path.endsWith('.pt-BR.md')
  const twin = isPortuguese ? path.replace('.pt-BR.md', '.md') : path.replace('.md', '.pt-BR.md')
  const { html, sections } = rendered(text, posix.dirname(path))
  const group = groupOf(path)
  return {
    path: addressOf(path),
    title: sections.find(({ level }) => level === 1)?.title ?? path,
    language: isPortuguese ? 'pt-BR' : 'en',
    html,
    sections,
    ...(group && { group }),
    ...(paths.has(twin) && { twin: addressOf(twin) }),
  }
}

function rendered(text: string, folder: string): { html: string; sections: DocumentSection[] } {
  const markdown = new MarkdownIt({ html: false, linkify: false, typographer: false })
  markdown.inline.ruler.before('text', 'anchor', (state, silent) => {
    const [whole, id] = /^<a id="([^"<>&]+)"><\/a>/.exec(state.src.slice(state.pos)) ?? []
    if (whole === undefined || id === undefined) return false
    if (!silent) state.push('anchor', 'a', 0).attrSet('id', id)
    state.pos += whole.length
    return true
  })
  markdown.renderer.rules.anchor = (tokens, index) => `<a id="${tokens[index]?.attrGet('id')}"></a>`
  markdown.renderer.rules.table_open = () => '<div class="wide" tabindex="0"><table>\n'
  markdown.renderer.rules.table_close = () => '</table></div>\n'
  const code: typeof markdown.renderer.rules.fence = (tokens, index) =>
    `<pre tabindex="0"><code>${markdown.utils.escapeHtml(tokens[index]?.content ?? '')}</code></pre>\n`
  Object.assign(markdown.renderer.rules, { fence: code, code_block: code })
  const tokens = markdown.parse(text, {})
  const sections = sectionsOf(tokens)
  for (const token of tokens.flatMap(({ children }) => children ?? [])) {
    const href = token.attrGet('href')
    if (token.type === 'link_open' && href !== null) token.attrSet('href', resolved(String(href), folder))
  }
  return { html: markdown.renderer.render(tokens, markdown.options, {}), sections }
}

/** Gives each heading its anchor, as GitHub names it, and collects the words below it for the search. */
function sectionsOf(tokens: readonly Token[]): DocumentSection[] {
  const sections: { level: number; id: string; title: string; text: string }[] = []
  const slugs: string[] = []
  tokens.forEach((token, index) => {
    if (token.type === 'heading_open') {
      const content = tokens[index + 1]
      const explicit = content?.children?.find(({ type }) => type === 'anchor')
      // It stands at the heading itself, so that it is there once.
      if (explicit && content) content.children = content.children?.filter((child) => child !== explicit) ?? null
      const slug = String(explicit?.attrGet('id') ?? slugOf(content?.content ?? ''))
      const repeated = slugs.filter((other) => other === slug).length
      slugs.push(slug)
      const id = repeated === 0 ? slug : `${slug}-${repeated}`
      token.attrSet('id', id)
      sections.push({ level: Number(token.tag.slice(1)), id, title: wordsOf(content), text: '' })
    } else if (tokens[index - 1]?.type !== 'heading_open' && ['inline', 'fence', 'code_block'].includes(token.type)) {
      const section = sections.at(-1)
      if (section !== undefined) section.text += `${token.type === 'inline' ? wordsOf(token) : token.content} `
    }
  })
  return sections
}

function wordsOf(token: Token | undefined): string {
  const parts = token?.children ?? []
  return parts.map(({ type, content }) => (type === 'softbreak' ? ' ' : content)).join('')
}

function resolved(href: string, folder: string): string {
  if (/^(?:[a-z]+:|#)/.test(href)) return href
  const [file = '', anchor] = href.split('#')
  const address = addressOf(posix.join(folder, file).replace(/\/$/, ''))
  return anchor === undefined ? address : `${address}#${anchor}`
}
