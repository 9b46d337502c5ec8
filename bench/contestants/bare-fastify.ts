import { createCashIn, createCashOut, createRefundIn } from '@pixgate/spec'
import fastify from 'fastify'
import { formats } from '../../packages/server/src/platform/http/request.ts'

/** Baseline over HTTP: validates the same body and answers a constant of the same shape. */

const app = fastify({ ajv: { customOptions: { formats } } })
for (const { path, body, responses } of [createCashIn, createCashOut, createRefundIn]) {
  const { example, schema } = responses[201]
  app.post(path.replace('{id}', ':id'), { schema: { body, response: { 201: schema } } }, async (_request, reply) =>
    reply.code(201).send(example),
  )
}
app.get('/readyz', async () => ({}))
await app.listen({ host: '127.0.0.1', port: Number(process.env.PORT) })
