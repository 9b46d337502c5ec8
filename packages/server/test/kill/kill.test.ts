import test from 'node:test'
import { sentPayout } from '../support/exactly-once.ts'
import { surviveEach } from './boundary.ts'

/** One kill; `npm run test:deep -- kill` kills the server and the bank at every boundary of each flow. */

const VALUE_CENTS = 150_25

test('[CO-16] killed after the bank took the order and before its answer arrived, a payout is sent once', (t) =>
  surviveEach(
    t,
    [
      {
        name: 'killed when the bank had the order',
        link: 'bank',
        request: 'PUT /payouts/',
        lost: 'response',
        reached: 'order at the bank',
        missing: 'order accepted',
      },
    ],
    {
      prepare: async () => ({ prepared: undefined, ended: [] }),
      act: async (world) => {
        const path = '/api/pix/cash-out'
        const transaction = { value: VALUE_CENTS / 100, externalId: 'payout' }
        const body = { transaction, recipient: { pixKey: 'padaria@example.com', pixKeyType: 'EMAIL' } }
        const created = await world.place(path, body)
        const payout = sentPayout({ externalId: 'payout', valueCents: VALUE_CENTS, id: created.id })
        return { request: { path, body, created }, ended: async () => payout }
      },
    },
  ))
