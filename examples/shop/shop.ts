import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Pixgate } from '@pixgate/sdk'
import { ask, qrCode, receiver, reconcile, type Shop } from './pix.ts'
import { type Order, Store } from './store.ts'

export interface ShopOptions {
  readonly pixgate: Pixgate
  /** Of its database. */
  readonly file: string
  readonly port: number
  /** Where Pixgate reaches it; by default on loopback. */
  readonly url?: string | undefined
}

const PRICE_CENTS = 25_00

const DAY_MS = 86_400_000

/** Opens the shop: its pages, and its endpoint for webhooks. */
export async function openShop({ pixgate, file, port, url }: ShopOptions) {
  const store = new Store(file)
  const shop = { pixgate, store }
  let receive: Awaited<ReturnType<typeof receiver>> | undefined
  const server = createServer((request, response) => {
    const fail = (error: unknown) => {
      console.error(request.method, request.url, error)
      response.writeHead(500).end()
    }
    if (request.method === 'POST' && request.url === '/pix' && receive) receive(request, response, fail)
    else serve(shop, request, response).catch(fail)
  })
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, '127.0.0.1', resolve))
  const ownUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  receive = await receiver(shop, `${url ?? ownUrl}/pix`)
  const close = async () => {
    const closed = new Promise((resolve) => server.close(resolve))
    server.closeAllConnections()
    await closed
    store.close()
  }
  return { ...shop, url: ownUrl, close }
}

/** Each minute: asks about orders whose next change may not be notified. */
export async function askOpen(shop: Shop, now: string): Promise<void> {
  for (const { id } of shop.store.open(now)) await askAbout(shop, id)
}

/** Seven days, so a difference is reported each night until it is gone. */
export function weekBefore(epochMs: number): [from: string, to: string] {
  return [new Date(epochMs - 7 * DAY_MS).toISOString(), new Date(epochMs).toISOString()]
}

/** Without an answer the order stays as it is, and is asked about again. */
async function askAbout(shop: Shop, id: string): Promise<void> {
  const order = shop.store.find(id)
  if (order) await ask(shop, order).catch((error: unknown) => console.error('ask', id, error))
}

async function serve(shop: Shop, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const html = (body: string) => void response.setHeader('content-type', 'text/html; charset=utf-8').end(PAGE + body)
  const [, resource = '', id = '', action = ''] = new URL(request.url ?? '', 'http://shop').pathname.split('/')
  const order = shop.store.find(id)
  switch (`${request.method} /${resource}${id && '/id'}${action && `/${action}`}`) {
    case 'GET /':
      return html(startPage())
    case 'POST /orders':
    case 'POST /orders/id/refund': {
      // Forms of other sites are not accepted.
      if (!['same-origin', undefined].includes(request.headers['sec-fetch-site']?.toString())) break
      const changed = await changeOrder(shop, order, await formOf(request))
      if (changed === undefined) break
      await askAbout(shop, changed)
      return void response.writeHead(303, { location: `/orders/${changed}` }).end()
    }
    case 'GET /orders/id':
      if (order === undefined) break
      if (order.status !== 'PAID' && order.status !== 'FAILED') await askAbout(shop, id)
      return html(orderPage(shop.store.find(id) ?? order))
    case 'GET /orders/id/qr': {
      if (order?.status !== 'PENDING') break
      const drawing = await qrCode(shop, order)
      return void response.setHeader('content-type', drawing.type).end(Buffer.from(await drawing.arrayBuffer()))
    }
    case 'GET /reconciliation':
      return html(reportPage(await reconcile(shop, ...weekBefore(Date.now()))))
  }
  response.writeHead(404).end()
}

/** Stores the intent before Pixgate is called. @returns the order to ask about; nothing for a form that is not this shop's */
function changeOrder({ store }: Shop, order: Order | undefined, form: URLSearchParams): string | undefined {
  if (order) {
    const [, reais, centavos = '00'] = /^(\d{1,7})(?:[.,](\d\d))?$/.exec(form.get('amount') ?? '') ?? []
    store.beginRefund(order.id, Number(form.get('number')), Number(`${reais}${centavos}`) || 0)
    return order.id
  }
  const [id = '', quantity] = [form.get('id') ?? '', Number(form.get('quantity'))]
  if (!/^shop-[0-9a-f-]{36}$/.test(id) || !Number.isInteger(quantity) || quantity < 1 || quantity > 20) return undefined
  store.add(id, quantity * PRICE_CENTS)
  return id
}

async function formOf(request: IncomingMessage): Promise<URLSearchParams> {
  let text = ''
  for await (const chunk of request.setEncoding('utf8')) {
    text += chunk
    if (text.length > 1_000) return new URLSearchParams()
  }
  return new URLSearchParams(text)
}

const PAGE = `<!doctype html><meta charset="utf-8"><title>Café</title>
<style>body { font: 1.1rem system-ui; max-width: 34rem; margin: 3rem auto } textarea { width: 100% }</style>`

function startPage(): string {
  return `<h1>Café</h1><form method="post" action="/orders"><input type="hidden" name="id" value="shop-${crypto.randomUUID()}">
    <label><input name="quantity" type="number" min="1" max="20" value="1"> × ${reais(PRICE_CENTS)}</label>
    <button>Pagar com Pix</button></form>`
}

const STATUS: Readonly<Record<Order['status'], string>> = {
  NEW: 'Gerando o Pix…',
  PENDING: 'Aguardando o pagamento',
  PAID: 'Pago',
  EXPIRED: 'O prazo de pagamento terminou',
  FAILED: 'O Pix não pôde ser gerado ou foi cancelado',
  PROVIDER_RESULT_UNKNOWN: 'Gerando o Pix…',
  RECONCILIATION_REQUIRED: 'Pagamento em análise',
}

function orderPage(order: Order): string {
  const isWaiting = ['NEW', 'PENDING', 'PROVIDER_RESULT_UNKNOWN'].includes(order.status)
  const isPayable = order.status === 'PENDING' && order.pix_code !== null
  return `${isWaiting || order.refund_status === 'PENDING' ? '<meta http-equiv="refresh" content="3">' : ''}
    <h1>${reais(order.value_cents)}</h1><p>${STATUS[order.status]}</p>
    ${isPayable ? `<img src="/orders/${order.id}/qr" alt="QR Code" width="300"><h2>Pix Copia e Cola</h2>` : ''}
    ${isPayable ? `<textarea readonly rows="5">${escaped(order.pix_code ?? '')}</textarea>` : ''}
    ${order.refund_number > 0 ? `<p>Devolvido: ${reais(order.refunded_cents)} (${order.refund_status})</p>` : ''}
    ${order.status === 'PAID' && order.refund_status !== 'PENDING' ? refundForm(order) : ''}<p><a href="/">Novo pedido</a></p>`
}

function refundForm({ id, value_cents, refunded_cents, refund_number }: Order): string {
  if (refunded_cents >= value_cents) return ''
  const rest = ((value_cents - refunded_cents) / 100).toFixed(2).replace('.', ',')
  return `<form method="post" action="/orders/${id}/refund"><input type="hidden" name="number" value="${refund_number + 1}">
    <label>R$ <input name="amount" value="${rest}"></label> <button>Devolver</button></form>`
}

function reportPage(differences: Awaited<ReturnType<typeof reconcile>>): string {
  const rows = differences.map(({ id, here, there }) => `<tr><td>${escaped(id)}<td>${here}<td>${there}`)
  return `<h1>Conciliação</h1><table><tr><th>Pedido<th>Loja<th>Pixgate${rows.join('')}</table><p>${rows.length} diferenças</p>`
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (letter) => `&#${letter.charCodeAt(0)};`)
}

function reais(cents: number): string {
  return new Intl.NumberFormat('pt-BR', { style: 'currency', currency: 'BRL' }).format(cents / 100)
}
