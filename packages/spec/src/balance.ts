import { Type } from 'typebox'
import { endpoint } from './endpoint.ts'
import { cents, nullable, uuid } from './shapes.ts'

/** @source rules#balance.1 */
export const getBalance = endpoint({
  id: 'getBalance',
  method: 'GET',
  path: '/organization/balance',
  auth: 'api-key',
  scope: 'read',
  tag: 'Balance',
  summary: 'Read the available balance per currency',
  description: 'The amount that can be sent now, the reserved amount, and the merchant’s debt.',
  responses: {
    200: {
      description: 'One item per currency; BRL is the only one',
      schema: Type.Array(
        Type.Object(
          {
            id: uuid,
            amount: Type.Number({
              minimum: 0,
              maximum: 1e14,
              description: 'Available, in reais (not centavos), without the reserved amount',
            }),
            code: Type.Literal('BRL'),
            name: Type.Literal('Brazilian Real'),
            symbol: Type.Literal('R$'),
            icon: nullable(Type.String({ maxLength: 2_048 })),
            reservedCents: cents('Set aside for payouts and refunds under way'),
            receivableCents: cents('The merchant’s debt; repaid by the next credits'),
          },
          { title: 'Balance' },
        ),
        { title: 'Balances', maxItems: 10 },
      ),
      example: [
        {
          id: '6f0f9f6e-5a0e-4c59-9d5c-6a8a0d0f1b2c',
          amount: 150,
          code: 'BRL',
          name: 'Brazilian Real',
          symbol: 'R$',
          icon: null,
          reservedCents: 0,
          receivableCents: 0,
        },
      ],
    },
  },
  errors: [],
})
