import { createHash } from 'node:crypto'
import type { Language } from './error-words.ts'
import { type Html, html } from './html.ts'

/** Shown on every page; the one thing that a page loads, and it stands in the page itself. */
const STYLE = `
:root { color-scheme: light dark; --line: #8884; --soft: #8881; --link: #0a6cbd }
@media (prefers-color-scheme: dark) { :root { --link: #6cb6ff } }
body { margin: 0 auto; padding: 0 1rem 4rem; max-width: 62rem; font: 16px/1.55 system-ui, sans-serif }
header, nav { padding: .8rem 0; border-bottom: 1px solid var(--line) }
header a, nav a { margin-right: 1rem }
a { color: var(--link); text-decoration: none }
a:hover { text-decoration: underline }
h2 { margin-top: 3rem; border-bottom: 1px solid var(--line) }
h3 { margin-top: 2.2rem }
h3 code { font-size: 1em }
code, pre { font: .88em/1.5 ui-monospace, monospace }
code, pre { background: var(--soft); border-radius: 4px }
code { padding: .1em .3em }
pre { padding: .8rem; overflow-x: auto; tab-size: 2 }
pre code { background: none; padding: 0; font-size: 1em }
table { border-collapse: collapse; width: 100%; margin: .6rem 0 1.2rem }
th, td { text-align: left; vertical-align: top; padding: .3rem .6rem .3rem 0; border-bottom: 1px solid var(--line) }
th { font-weight: 600 }
details { margin: .4rem 0 }
summary { cursor: pointer }
.method { display: inline-block; min-width: 4rem; font-weight: 700 }
.quiet { opacity: .75 }
:target { background: #fc04 }
`

/** A page: the same head for all of them, and nothing that is loaded from anywhere. */
export function page(title: string, body: Html, language: Language = 'en'): string {
  return html`<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="icon" href="data:,">
<style>${{ html: STYLE }}</style>
</head>
<body>
<header><a href="/"><strong>Pixgate</strong></a> <a href="/docs">Reference</a> <a href="/docs/errors">Errors</a> <a href="/openapi.json">OpenAPI</a></header>
${body}
</body>
</html>
`.html
}

/**
 * What a browser may do with a page: nothing but to show it, in the style that stands in it.
 * @source rules#reference.2
 */
export const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')
