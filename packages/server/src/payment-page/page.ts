import type { PaymentPageState } from '@pixgate/spec'
import {
  type CashIn,
  isCancelRequested,
  isOver,
  isWanted,
  paidCents,
  pixCodeOf,
  qrCodeSvg,
  refundedCents,
} from '../cash-in/index.ts'
import { type Html, html } from '../platform/http/html.ts'
import { type Look, SCRIPT } from './look.ts'

/** The page in its states, in Portuguese. It shows nothing of the payer. @source rules#payment-page.1, rules#payment-page.5 */

/** States that may still change by themselves. */
const LIVE: ReadonlySet<PaymentPageState> = new Set(['preparing', 'waiting', 'expired', 'cancelled', 'in_review'])

function isLive(state: PaymentPageState): boolean {
  return LIVE.has(state)
}

/** State of a charge for its payer. A code is shown only while it can be paid. @source rules#payment-page.5 */
export function pageStateOf(cashIn: CashIn, nowMs: number): PaymentPageState {
  const { status, facts } = cashIn
  if (status === 'PAID') return refundedCents(cashIn) < paidCents(cashIn) ? 'paid' : 'returned'
  if (status === 'FAILED') return isCancelRequested(cashIn) && facts.payments === undefined ? 'cancelled' : 'closed'
  if (status === 'EXPIRED') return 'expired'
  if (!isWanted(cashIn)) return 'in_review'
  if (isOver(cashIn, nowMs)) return 'expired'
  if (isCancelRequested(cashIn)) return 'cancelled'
  return pixCodeOf(cashIn) === null ? 'preparing' : 'waiting'
}

const HOUR_MS = 3_600_000

/** Seconds between two loads of the page where no script runs. */
const REFRESH_SECONDS = 10

const moment = new Intl.DateTimeFormat('pt-BR', {
  ...{ timeZone: 'America/Sao_Paulo', hourCycle: 'h23' },
  ...{ day: '2-digit', month: '2-digit', year: 'numeric', hour: '2-digit', minute: '2-digit' },
})
const money = new Intl.NumberFormat('pt-BR', { style: 'currency', currency: 'BRL' })

function momentText(atMs: number): string {
  return `${moment.format(atMs).replace(', ', ' às ')} (horário de Brasília)`
}

function reais(cents: bigint): string {
  return money.format(Number(cents) / 100)
}

/** The page of a charge. */
export function chargePage(look: Look, cashIn: CashIn, state: PaymentPageState, nowMs: number): string {
  const { name } = cashIn.detail.merchant
  const leftMs = (cashIn.expiresAt ?? nowMs) - nowMs
  const live = { state, leftMs, liveMs: isLive(state) ? Math.max(leftMs, 0) + HOUR_MS : undefined }
  if (state === 'waiting') {
    const title = `Pagar ${reais(cashIn.valueCents)}`
    return page(look, { name, title, live, isWide: true, body: waiting(cashIn) })
  }
  const { title, text, icon } = RESULTS[state](name)
  const body = html`<div class="card">${result(icon, title, text)}${factsOf(cashIn, state)}</div>`
  return page(look, { name, title, live, body })
}

/** The page without a charge: no such token, too many requests, or no database. */
export function otherPage(look: Look, name: string, which: keyof typeof OTHERS): string {
  const { title, text, icon } = OTHERS[which]
  const live = which === 'busy' ? { state: which, leftMs: 0, liveMs: HOUR_MS } : undefined
  return page(look, {
    name,
    title,
    ...(live && { live }),
    body: html`<div class="card">${result(icon, title, text)}</div>`,
  })
}

interface Shown {
  /** Of the merchant. */
  readonly name: string
  readonly title: string
  readonly body: Html
  readonly isWide?: boolean
  readonly live?: { readonly state: string; readonly leftMs: number; readonly liveMs: number | undefined }
}

function page({ style, logo }: Look, { name, title, body, isWide, live }: Shown): string {
  return html`<!doctype html>
<html lang="pt-BR">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex, nofollow">
<meta name="referrer" content="no-referrer">
<meta name="format-detection" content="telephone=no">
<title>${title} · ${name}</title>
<link rel="icon" href="data:,">
${live?.liveMs === undefined ? undefined : html`<noscript><meta http-equiv="refresh" content="${REFRESH_SECONDS}"></noscript>`}
<style>${{ html: style }}</style>
</head>
<body${live && html` data-state="${live.state}" data-left-ms="${live.leftMs}"`}${
    live?.liveMs === undefined ? undefined : html` data-live-ms="${live.liveMs}"`
  }>
<header>${logo === undefined ? undefined : html`<img src="${logo}" alt="">`}<span>${name}</span></header>
<main${isWide ? html` class="wide"` : undefined}>${body}</main>
<footer>Pagamento por Pix</footer>
${live?.liveMs === undefined ? undefined : html`<script>${{ html: SCRIPT }}</script>`}
</body>
</html>
`.html
}

function waiting(cashIn: CashIn): Html {
  const pixCode = pixCodeOf(cashIn) ?? ''
  const { description, merchant } = cashIn.detail
  const expiresAt = cashIn.expiresAt ?? 0
  return html`<div class="card">
<div class="pay">
<section class="ask">
<p class="label">Valor a pagar</p>
<h1 class="amount">${reais(cashIn.valueCents)}</h1>
${description === null ? undefined : html`<p class="about">${description}</p>`}
<p class="quiet">Pague até <time datetime="${new Date(expiresAt).toISOString()}">${momentText(expiresAt)}</time><span id="left"></span></p>
<p class="badge">Aguardando pagamento</p>
</section>
<section class="copy">
<h2>Pix Copia e Cola</h2>
<button id="copy" type="button" hidden>Copiar código Pix</button>
<p class="told" id="told" role="status" data-copied="Código copiado. Cole no app do seu banco, em Pix Copia e Cola." data-selected="Código selecionado. Copie e cole no app do seu banco."></p>
<p class="code" id="code">${pixCode}</p>
<noscript><p class="quiet">Toque no código para selecionar tudo e copie.</p></noscript>
</section>
<section class="scan">
<div class="qr">${qrCode(pixCode)}</div>
<p class="quiet">Aponte a câmera do app do seu banco para o QR code.</p>
</section>
</div>
<section class="line">
<h2>Como pagar</h2>
<ol>
<li>Abra o app do seu banco e entre na área Pix.</li>
<li>Leia o QR code ou cole o código em Pix Copia e Cola.</li>
<li>Confira o valor e o nome de quem recebe (${merchant.name}) e confirme.</li>
</ol>
</section>
<p class="quiet">Esta página mostra a confirmação assim que o pagamento chegar.</p>
</div>`
}

const QR_CODE_PIXELS = 264

function qrCode(pixCode: string): Html {
  const svg = qrCodeSvg(pixCode, QR_CODE_PIXELS)
  return { html: svg.replace('<svg ', '<svg role="img" aria-label="QR code do Pix" ') }
}

type Icon = 'ok' | 'wait' | 'bad' | 'calm'

interface Result {
  readonly icon: Icon
  readonly title: string
  readonly text: string
}

const RESULTS: Readonly<Record<Exclude<PaymentPageState, 'waiting'>, (name: string) => Result>> = {
  preparing: () => ({
    icon: 'wait',
    title: 'Preparando o pagamento',
    text: 'O código Pix aparece aqui em alguns instantes.',
  }),
  paid: () => ({ icon: 'ok', title: 'Pagamento confirmado', text: 'Tudo certo. Você já pode fechar esta página.' }),
  returned: () => ({
    icon: 'calm',
    title: 'Pagamento devolvido',
    text: 'O valor foi devolvido para a conta de onde saiu.',
  }),
  expired: (name) => ({
    icon: 'wait',
    title: 'Cobrança expirada',
    text: `O prazo para pagar terminou. Peça uma nova cobrança a ${name}. Se você pagou dentro do prazo, a confirmação ainda aparece aqui.`,
  }),
  cancelled: (name) => ({
    icon: 'calm',
    title: 'Cobrança cancelada',
    text: `Não pague esta cobrança. Em caso de dúvida, fale com ${name}.`,
  }),
  closed: (name) => ({
    icon: 'bad',
    title: 'Cobrança encerrada',
    text: `Esta cobrança não pode ser paga. Em caso de dúvida, fale com ${name}.`,
  }),
  in_review: (name) => ({
    icon: 'wait',
    title: 'Em análise',
    text: `${name} está conferindo esta cobrança. Não pague de novo: o resultado aparece aqui.`,
  }),
}

const OTHERS = {
  unknown: {
    icon: 'calm',
    title: 'Página não encontrada',
    text: 'Confira o endereço ou peça um novo link a quem enviou a cobrança.',
  },
  limited: {
    icon: 'wait',
    title: 'Muitos acessos',
    text: 'Houve muitos acessos a partir da sua rede. Aguarde um minuto e abra o link de novo.',
  },
  busy: {
    icon: 'wait',
    title: 'Só um instante',
    text: 'Não foi possível carregar a cobrança agora. A página tenta de novo sozinha.',
  },
} as const satisfies Readonly<Record<string, Result>>

const ICONS: Readonly<Record<Icon, string>> = {
  ok: 'M5 12.5 10 17.5 19 7',
  wait: 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM12 7.5V12l3 2',
  bad: 'M7 7 17 17M17 7 7 17',
  calm: 'M6 12h12',
}

function result(icon: Icon, title: string, text: string): Html {
  return html`<section class="result">
<div class="icon ${icon}" aria-hidden="true"><svg viewBox="0 0 24 24"><path d="${ICONS[icon]}"/></svg></div>
<h1>${title}</h1>
<p>${text}</p>
</section>`
}

function factsOf(cashIn: CashIn, state: PaymentPageState): Html {
  const { detail, facts, expiresAt } = cashIn
  const isPaid = state === 'paid' || state === 'returned'
  const refunded = refundedCents(cashIn)
  const rows: readonly (readonly [string, string | null])[] = [
    ['Valor', reais(isPaid ? paidCents(cashIn) : cashIn.valueCents)],
    ['Para', detail.merchant.name],
    ['Descrição', detail.description],
    ['Pago em', isPaid && facts.paidAt !== undefined ? momentText(facts.paidAt) : null],
    ['Devolvido', isPaid && refunded > 0n ? reais(refunded) : null],
    ['Prazo', state === 'expired' && expiresAt !== null ? momentText(expiresAt) : null],
  ]
  return html`<dl class="line">${rows.map(([term, text]) =>
    text === null ? undefined : html`<div><dt>${term}</dt><dd>${text}</dd></div>`,
  )}</dl>`
}
