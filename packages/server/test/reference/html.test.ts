import assert from 'node:assert/strict'
import test from 'node:test'
import { html } from '../../src/platform/http/html.ts'
import { prose } from '../../src/reference/frame.ts'

test('[reference.2] what is inserted as text shows as that text, in an attribute too', () => {
  const text = `<b a="1" b='2'>&`
  assert.equal(html`<i title="${text}">${text}</i>`.html.split('<').length, 3)
  assert.equal(html`${text}`.html, '&lt;b a=&quot;1&quot; b=&#39;2&#39;&gt;&amp;')
})

test('[reference.2] HTML within HTML is kept, lists are joined, nothing is nothing', () => {
  assert.equal(html`${[1, html`<b>${'&'}</b>`, undefined, ['x']]}${undefined}`.html, '1<b>&amp;</b>x')
})

test('[reference.2] code and bold words of a sentence are marked, and nothing else', () => {
  assert.equal(prose('a `b<c>` **d** *e* [f](g)').html, 'a <code>b&lt;c&gt;</code> <strong>d</strong> *e* [f](g)')
})
