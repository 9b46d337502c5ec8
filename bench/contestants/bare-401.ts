import { getCashIn } from '@pixgate/spec'
import fastify from 'fastify'
import pg from 'pg'

/** Baseline for attacks: answers 401 before reading the body unless the one key is sent, and else reads a row by id. */

const { DATABASE_URL = '', CUSTOMER_KEY } = process.env

const database = new pg.Pool({ connectionString: DATABASE_URL, max: 10 })
const app = fastify({ bodyLimit: 65_536 })
app.addHook('onRequest', (request, reply, done) => {
  if (request.url === '/readyz' || request.headers.authorization === `Bearer ${CUSTOMER_KEY}`) done()
  else reply.code(401).send({ code: 'unauthorized' })
})
app.get('/readyz', async () => ({}))
app.get<{ Params: { id: string } }>(getCashIn.path.replace('{id}', ':id'), async ({ params }) => {
  const query = { name: 'get', text: 'SELECT * FROM operation WHERE id = $1', values: [params.id] }
  return (await database.query(query)).rows[0]
})
await app.listen({ host: '127.0.0.1', port: Number(process.env.PORT) })
