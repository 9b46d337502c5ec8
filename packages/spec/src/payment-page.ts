import { Type } from 'typebox'
import { endpoint } from './endpoint.ts'
import { limits } from './limits.ts'
import type { ResponseHeader } from './response-headers.ts'

/** The page on which a payer pays a charge. */

/** Known by the 22 characters of its token alone: any other text is a page that does not exist. */
const pageParams = Type.Object({
  token: Type.String({ description: 'Id of the payment-page', examples: ['x0Vt3mZ2q9YkQbJ7rLw1sA'] }),
})

export const paymentPageStates = [
  'preparing',
  'waiting',
  'paid',
  'returned',
  'expired',
  'cancelled',
  'closed',
  'in_review',
] as const

export type PaymentPageState = (typeof paymentPageStates)[number]

const state = Type.Enum([...paymentPageStates], {
  title: 'PaymentPageState',
  description:
    '`preparing`: the bank has not answered with a code yet. `waiting`: it can be paid. `closed`: it failed. `in_review`: an operator decides about it.',
})

const html = (description: string, headers: readonly ResponseHeader[] = []) => ({
  description,
  contentType: 'text/html; charset=utf-8',
  headers: ['Content-Security-Policy', 'Referrer-Policy', 'X-Robots-Tag', ...headers] as const,
  schema: Type.String({ title: 'PaymentPage' }),
  example: '<!doctype html><html lang="pt-BR"><title>Pagamento</title></html>',
})

/** @source rules#payment-page.1 */
export const getPaymentPage = endpoint({
  id: 'getPaymentPage',
  method: 'GET',
  path: '/pay/{token}',
  auth: 'none',
  tag: 'Payment page',
  summary: 'Open the payment page of a charge',
  description:
    'For the payer’s browser: QR code, Pix Copia e Cola, amount, expiry and state, in Portuguese. The address is `paymentUrl` of the 201 of the charge. Served with `PIXGATE_PAYMENT_PAGE=true`.',
  params: pageParams,
  responses: {
    200: html('The page'),
    404: html('A page that says that there is none'),
    429: html('A page that asks to wait', ['Retry-After']),
    503: html('A page that tries again by itself', ['Retry-After']),
  },
  errors: [],
})

/** @source rules#payment-page.4 */
export const getPaymentState = endpoint({
  id: 'getPaymentState',
  method: 'GET',
  path: '/pay/{token}/state',
  auth: 'none',
  tag: 'Payment page',
  summary: 'Read the state that a payment page shows',
  description: `The script of the page waits here. With \`after\` the answer comes when the state is another one, at most ${limits.paymentPageWaitSeconds} seconds later.`,
  params: pageParams,
  query: Type.Object({ after: Type.Optional(state) }),
  responses: {
    200: {
      description: 'The state',
      schema: Type.Object({ state }, { title: 'PaymentPageStatus' }),
      example: { state: 'paid' },
    },
    429: { description: 'Too many requests from this address', headers: ['Retry-After'] },
  },
  errors: ['not_found'],
})
