import type { Exchange } from '@pixgate/bank-simulator'
import { type TProperties, type TSchema, Type } from 'typebox'
import { Errors } from 'typebox/value'

/**
 * What a bank of the standard may be asked, as the documents of the Central Bank and of Efí have it: nothing is in a request that is
 * not said there.
 */

const strict = (properties: TProperties) => Type.Object(properties, { additionalProperties: false })

const valor = Type.String({ pattern: '^\\d{1,10}\\.\\d{2}$' })
const chave = Type.String({ minLength: 1, maxLength: 77 })
const nome = Type.String({ minLength: 1, maxLength: 200 })
const cpf = Type.String({ pattern: '^\\d{11}$' })
const cnpj = Type.String({ pattern: '^[0-9A-Z]{14}$' })
const message = Type.Optional(Type.String({ minLength: 1, maxLength: 140 }))
const NOTHING = Type.Union([Type.Undefined(), Type.Null()])

const pagador = strict({ chave, infoPagador: message })

/** The body of each call. */
const bodies: readonly (readonly [call: RegExp, body: TSchema])[] = [
  [
    /^PUT \/v2\/cob\/[a-zA-Z0-9]{26,35}$/,
    strict({
      calendario: strict({ expiracao: Type.Integer({ minimum: 1, maximum: 2_147_483_647 }) }),
      devedor: Type.Optional(Type.Union([strict({ cpf, nome }), strict({ cnpj, nome })])),
      valor: strict({ original: valor }),
      chave,
      solicitacaoPagador: message,
    }),
  ],
  [/^PATCH \/v2\/cob\/[a-zA-Z0-9]{26,35}$/, strict({ status: Type.Literal('REMOVIDA_PELO_USUARIO_RECEBEDOR') })],
  [/^GET \/v2\/cob\/[a-zA-Z0-9]{26,35}$/, NOTHING],
  [/^PUT \/v2\/pix\/[a-zA-Z0-9]{32}\/devolucao\/[a-zA-Z0-9]{1,35}$/, strict({ valor, descricao: message })],
  [/^GET \/v2\/pix\/[a-zA-Z0-9]{32}\/devolucao\/[a-zA-Z0-9]{1,35}$/, NOTHING],
  [/^GET \/v2\/(?:pix|gn\/pix\/enviados)\?/, NOTHING],
  [/^PUT \/v2\/webhook\/[^/?]+$/, strict({ webhookUrl: Type.String({ pattern: '^https?://' }) })],
  [/^GET \/v2\/webhook\/[^/?]+$/, NOTHING],
  [
    /^PUT \/v3\/gn\/pix\/[a-zA-Z0-9]{1,35}$/,
    strict({
      valor,
      pagador,
      favorecido: strict({ chave, cpf: Type.Optional(cpf), cnpj: Type.Optional(cnpj) }),
    }),
  ],
  [
    /^PUT \/v2\/gn\/pix\/[a-zA-Z0-9]{1,35}\/qrcode$/,
    strict({ pagador, pixCopiaECola: Type.String({ minLength: 1, maxLength: 512 }) }),
  ],
  [/^GET \/v2\/gn\/pix\/enviados\/id-envio\/[a-zA-Z0-9]{1,35}$/, NOTHING],
  [/^POST \/v2\/gn\/qrcodes\/detalhar$/, strict({ pixCopiaECola: Type.String({ minLength: 1, maxLength: 512 }) })],
  [/^GET \/v2\/gn\/saldo\?/, NOTHING],
]

const INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/

/** What a list may be asked for; every value of a query is text. */
const query: Readonly<Record<string, RegExp>> = {
  inicio: INSTANT,
  fim: INSTANT,
  txid: /^[a-zA-Z0-9]{26,35}$/,
  bloqueios: /^(?:true|false)$/,
  devolucaoPresente: /^(?:true|false)$/,
  'paginacao.paginaAtual': /^\d+$/,
  'paginacao.itensPorPagina': /^(?:[1-9]\d{0,2}|1000)$/,
}

/** What of a call the documents do not have; of the request for a token that is OAuth 2.0's matter. */
export function requestFaults({ method, path, body }: Pick<Exchange, 'method' | 'path' | 'body'>): readonly string[] {
  if (path === '/oauth/token') return []
  const call = `${method} ${path}`
  const schema = bodies.find(([pattern]) => pattern.test(call))?.[1]
  if (schema === undefined) return [`no document has ${call}`]
  const ofBody = [...Errors(schema, body)].map(({ instancePath, message }) => `${call}: ${instancePath} ${message}`)
  const parameters = [...new URLSearchParams(path.split('?')[1] ?? '')]
  const ofQuery = parameters.filter(([name, value]) => !query[name]?.test(value)).map(([name]) => `${call}: ${name}`)
  return [...ofBody, ...ofQuery]
}
