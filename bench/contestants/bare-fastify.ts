import { createCashIn, createCashOut, createRefundIn } from '@pixgate/spec'
import fastify from 'fastify'
import { formats } from '../../packages/server/src/platform/http/request.ts'

/**
 * The yardstick of everything over HTTP: a server that checks the same body, answers with the same shape, and does
 * nothing in between.
 */

const app = fastify({ ajv: { customOptions: { formats } } })
for (const { path, body, responses } of [createCashIn, createCashOut, createRefundIn]) {
  const { example, schema } = responses[201]
  app.post(path.replace('{id}', ':id'), { schema: { body, response: { 201: schema } } }, async (_request, reply) =>
    reply.code(201).send(example),
  )
}
app.get('/readyz', async () => ({}))
await app.listen({ host: '127.0.0.1', port: Number(process.env.PORT) })
