import { createCashOut } from '@pixgate/spec'
import fastify from 'fastify'
import { formats } from '../../packages/server/src/platform/http/request.ts'
import { openTransactions } from './transaction.ts'

/** Baseline of payouts: one transaction per request behind bare Fastify. */

const reserve = openTransactions(process.env.DATABASE_URL as string)
const { example, schema } = createCashOut.responses[201]
const app = fastify({ ajv: { customOptions: { formats } } })
app.post(
  createCashOut.path,
  { schema: { body: createCashOut.body, response: { 201: schema } } },
  async (_request, reply) => {
    await reserve()
    return reply.code(201).send(example)
  },
)
app.get('/readyz', async () => ({}))
await app.listen({ host: '127.0.0.1', port: Number(process.env.PORT) })
