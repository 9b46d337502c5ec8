import { Type } from 'typebox'
import { endpoint } from './endpoint.ts'
import { limits } from './limits.ts'
import { nullable, text } from './shapes.ts'

/**
 * Controls of the simulated bank. They exist in sandbox mode only and act on the simulator, which then tells the
 * service over its real signed webhook.
 * @source rules#sandbox.1
 */

const params = Type.Object({ id: Type.String({ maxLength: 128, description: 'UUID of the cash-in' }) })

const accepted = {
  202: {
    description: 'The simulated bank took the order; its webhook follows',
    schema: Type.Object(
      { accepted: Type.Literal(true), endToEndId: Type.Optional(nullable(Type.String({ maxLength: 64 }))) },
      { additionalProperties: false },
    ),
    example: { accepted: true, endToEndId: 'E9999901020261121131500aB3dE5fG7' },
  },
} as const

/** @source rules#sandbox.2 */
export const payCashIn = endpoint({
  id: 'payCashIn',
  method: 'POST',
  path: '/sandbox/cash-in/{id}/pay',
  auth: 'api-key',
  tag: 'Sandbox',
  summary: 'Pay a charge at the simulated bank',
  description: 'Allowed after expiry and more than once; each payment has its own end-to-end id.',
  params,
  body: Type.Object(
    {
      valueCents: Type.Optional(Type.Integer({ minimum: 1, maximum: Number(limits.valueMaxCents) })),
      payerName: Type.Optional(text(limits.nameMaxLength)),
    },
    { additionalProperties: false },
  ),
  example: { payerName: 'Maria da Silva' },
  responses: accepted,
  errors: ['not_found', 'not_possible_in_state', 'partner_unavailable'],
  sandboxOnly: true,
})

/** @source rules#sandbox.3 */
export const failCashIn = endpoint({
  id: 'failCashIn',
  method: 'POST',
  path: '/sandbox/cash-in/{id}/fail',
  auth: 'api-key',
  tag: 'Sandbox',
  summary: 'Let a charge fail at the simulated bank',
  params,
  responses: accepted,
  errors: ['not_found', 'not_possible_in_state', 'partner_unavailable'],
  sandboxOnly: true,
})
