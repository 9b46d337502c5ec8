import { createHash } from 'node:crypto'
import { type Html, html } from '../platform/http/html.ts'
import { type Line, type Party, RECEIPT, type Receipt } from './receipt.ts'

/** A receipt as a page to be read and printed, without scripts and loads. */

const STYLE = `
:root{color-scheme:light}
*{box-sizing:border-box}
body{margin:0;background:#f3f4f6;color:#14161a;font:15px/1.5 Geist,Inter,system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
main{max-width:42rem;margin:2rem auto;padding:3rem;background:#fff;border-radius:12px}
header p{display:flex;flex-wrap:wrap;justify-content:space-between;gap:0 2rem}
p,h1,h2,dl,dd{margin:0}
h1{margin-top:.9rem;font-size:1.45rem;font-weight:600;line-height:1.3}
.amount{display:block;margin:.5rem 0 .3rem;font-size:2.75rem;font-weight:600;line-height:1.15;overflow-wrap:anywhere}
.returned{margin-top:1.2rem;padding:.7rem 1rem;border-radius:8px;background:#f3f4f6}
.parties{display:grid;grid-template-columns:1fr 1fr;gap:2rem;margin-top:2rem;padding:2rem 0;border:solid #dee0e4;border-width:1px 0}
h2,dt,.quiet{color:#5f646e;font-size:.875rem;font-weight:400}
.name{margin-bottom:.7rem;font-size:1.05rem;font-weight:600;line-height:1.35}
.name,dd{overflow-wrap:anywhere}
.parties dd+dt{margin-top:.5rem}
.details{display:grid;grid-template-columns:9.5rem 1fr;gap:.6rem 1rem;padding:1.6rem 0;border-bottom:1px solid #dee0e4}
footer{margin-top:1.4rem}
@media(max-width:34rem){main{margin:0;padding:1.5rem;border-radius:0}.parties,.details{grid-template-columns:1fr}.details{gap:0}.details dd{margin-bottom:.6rem}}
@media print{@page{size:A4;margin:18mm}body{background:none;font-size:11pt}main{max-width:none;margin:0;padding:0}.returned{border:1px solid #dee0e4}}
`

/** Its place in a policy. The console opens the page under its own. @source rules#receipt.6 */
export const RECEIPT_STYLE = `'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`

export const RECEIPT_POLICY = [
  "default-src 'none'",
  `style-src ${RECEIPT_STYLE}`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** @source rules#receipt.5 */
export function receiptPage(receipt: Receipt): string {
  const { title, issuer, amount, at, returned, payer, payee, details, footer } = receipt
  return html`<!doctype html>
<html lang="pt-BR">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${RECEIPT} – ${title}</title>
<style>${{ html: STYLE }}</style>
</head>
<body>
<main>
<header>
<p class="quiet"><span>${RECEIPT}</span><span>${issuer}</span></p>
<h1>${title} <strong class="amount">${amount}</strong></h1>
<p>${at}</p>
</header>
${returned === null ? undefined : html`<p class="returned">${returned}</p>`}
<div class="parties">${[payer, payee].map(partySection)}</div>
<dl class="details">${details.map(lineItems)}</dl>
<footer class="quiet">${footer}</footer>
</main>
</body>
</html>
`.html
}

function partySection({ role, name, facts }: Party): Html {
  const title = html`<h2>${role}</h2><p class="name">${name}</p>`
  return html`<section>${title}<dl>${facts.map(lineItems)}</dl></section>`
}

function lineItems([label, value]: Line): Html {
  return html`<dt>${label}</dt><dd>${value}</dd>`
}
