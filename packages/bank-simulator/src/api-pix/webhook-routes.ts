import type { FastifyInstance } from 'fastify'
import { type Static, Type } from 'typebox'
import { MERCHANT } from '../account-holders.ts'
import { instant } from '../events.ts'
import type { Webhook } from '../notices.ts'
import type { Account } from './account.ts'
import type { AttemptResult, CallbackSender } from './callbacks.ts'
import type { Conventions } from './conventions.ts'
import { pageOf, type Query, readList } from './lists.ts'
import { Problem } from './problems.ts'

const webhookSolicitado = Type.Object({ webhookUrl: Type.String({ minLength: 1, maxLength: 2_048 }) })

const writing: Conventions = { scope: 'webhook.write', invalid: 'WebhookOperacaoInvalida', entity: 'webhook' }

const reading: Conventions = { scope: 'webhook.read', invalid: 'WebhookConsultaInvalida', entity: 'webhook' }

type KeyParams = { readonly chave: string }

/** Adds the routes that register webhooks. @source BCB, API Pix (Webhook); rules#sandbox.15 */
export function webhookRoutes(app: FastifyInstance, account: Account, sender: Pick<CallbackSender, 'attempt'>): void {
  const { book, clock, liar } = account.bank
  app.put<{ Params: KeyParams; Body: Static<typeof webhookSolicitado> }>(
    '/v2/webhook/:chave',
    { schema: { body: webhookSolicitado }, config: { conventions: writing } },
    async ({ params: { chave }, body: { webhookUrl } }, reply) => {
      liar.throwIfTold('unavailable')
      assertOwnKey(account, chave)
      if (!isAddress(webhookUrl)) throw invalid('Campo webhook.webhookUrl não respeita o schema.', webhookUrl)
      const test = { evento: 'teste_webhook', data_criacao: instant(clock.now()) }
      assertAccepted(await sender.attempt(webhookUrl, test), webhookUrl)
      book.record({ fact: 'webhook set', at: clock.now(), pixKey: chave, url: webhookUrl })
      return reply.code(200).send()
    },
  )
  app.delete<{ Params: KeyParams }>(
    '/v2/webhook/:chave',
    { config: { conventions: writing } },
    async ({ params: { chave } }, reply) => {
      liar.throwIfTold('unavailable')
      known(account, chave)
      book.record({ fact: 'webhook removed', at: clock.now(), pixKey: chave })
      return reply.code(204).send()
    },
  )
  readRoutes(app, account)
}

function readRoutes(app: FastifyInstance, account: Account): void {
  const { book, liar } = account.bank
  app.get<{ Params: KeyParams }>(
    '/v2/webhook/:chave',
    { config: { conventions: reading } },
    async ({ params: { chave } }) => {
      liar.throwIfTold('unavailable')
      return webhookOf(known(account, chave))
    },
  )
  app.get<{ Querystring: Query }>('/v2/webhook', { config: { conventions: reading } }, async ({ query }) => {
    liar.throwIfTold('unavailable')
    const list = readList(query, 'WebhookConsultaInvalida', {}, { isWindowOptional: true })
    const found = [...book.notices.webhooks.values()].filter(
      ({ createdAt }) => list.from <= createdAt && createdAt <= list.to,
    )
    const { items, parametros } = pageOf(found, list)
    return { parametros, webhooks: items.map(webhookOf) }
  })
}

function webhookOf({ url: webhookUrl, pixKey: chave, createdAt }: Webhook) {
  return { webhookUrl, chave, cnpj: MERCHANT.document, criacao: instant(createdAt) }
}

function assertOwnKey({ keys }: Account, chave: string): void {
  if (keys.includes(chave)) return
  const razao = 'O parâmetro chave não corresponde a uma chave DICT pertencente a este usuário recebedor.'
  throw new Problem('WebhookOperacaoInvalida', [{ razao, propriedade: 'chave', valor: chave }])
}

/** Whether a text is an HTTPS URL, or an HTTP URL on this machine or of a container, whose name has no dot. */
function isAddress(text: string): boolean {
  const url = URL.parse(text)
  if (url === null || url.username !== '' || url.hash !== '') return false
  return (
    url.protocol === 'https:' ||
    (url.protocol === 'http:' && /^(?:127\.0\.0\.1|[\w-]+|host\.docker\.internal)$/.test(url.hostname))
  )
}

/** Asserts that the webhook accepted the test request. */
function assertAccepted(result: AttemptResult, url: string): void {
  if ('reason' in result) throw invalid(`A URL informada está inacessível: ${result.reason}`, url)
  if (result.status < 200 || result.status >= 300) {
    throw invalid(`A URL informada respondeu com o código HTTP ${result.status}`, url)
  }
}

/** @throws Problem WebhookNaoEncontrado */
function known({ bank: { book } }: Account, chave: string): Webhook {
  const webhook = book.notices.webhooks.get(chave)
  if (!webhook) throw new Problem('WebhookNaoEncontrado')
  return webhook
}

function invalid(razao: string, valor: string): Problem {
  return new Problem('WebhookOperacaoInvalida', [{ razao, propriedade: 'webhook.webhookUrl', valor }])
}
