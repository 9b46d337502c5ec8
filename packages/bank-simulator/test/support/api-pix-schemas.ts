import { type TObject, type TProperties, type TSchema, Type } from 'typebox'
import { Errors } from 'typebox/value'

/** Strict schemas of the responses of API Pix and of Efí, after their documents. */

const valor = Type.String({ pattern: '^\\d{1,10}\\.\\d{2}$' })
const instant = Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}\\.\\d{3}Z$' })
const txid = Type.String({ pattern: '^[a-zA-Z0-9]{26,35}$' })
const endToEndId = Type.String({ pattern: '^E[0-9A-Z]{8}\\d{12}[0-9A-Za-z]{11}$' })
const rtrId = Type.String({ pattern: '^D[0-9A-Z]{8}\\d{12}[0-9A-Za-z]{11}$' })
const chave = Type.String({ minLength: 1, maxLength: 77 })
const cpf = Type.String({ pattern: '^\\d{11}$' })
const cnpj = Type.String({ pattern: '^[0-9A-Z]{14}$' })
const nome = Type.String({ minLength: 1, maxLength: 200 })

const devolucao = strict({
  id: Type.String({ pattern: '^[a-zA-Z0-9]{1,35}$' }),
  rtrId,
  valor,
  natureza: Type.Enum(['ORIGINAL', 'MED_OPERACIONAL', 'MED_FRAUDE']),
  descricao: Type.Optional(Type.String({ maxLength: 140 })),
  horario: strict({ solicitacao: instant, liquidacao: Type.Optional(instant) }),
  status: Type.Enum(['EM_PROCESSAMENTO', 'DEVOLVIDO', 'NAO_REALIZADO']),
  motivo: Type.Optional(Type.String({ maxLength: 140 })),
})

const person = strict({ nome: Type.String(), cpf: Type.Optional(Type.String()), cnpj: Type.Optional(Type.String()) })

const pixParts = {
  endToEndId,
  txid: Type.Optional(Type.String({ pattern: '^[a-zA-Z0-9]{1,35}$' })),
  valor,
  componentesValor: strict({ original: strict({ valor }) }),
  chave,
  horario: instant,
  infoPagador: Type.Optional(Type.String({ maxLength: 140 })),
  // Not in the standard: banks' own fields.
  pagador: Type.Optional(person),
  gnExtras: Type.Optional(strict({ pagador: person })),
  devolucoes: Type.Optional(Type.Array(devolucao, { minItems: 1 })),
}

const loc = strict({
  id: Type.Integer({ minimum: 1 }),
  txid,
  location: Type.String({ maxLength: 77 }),
  tipoCob: Type.Literal('cob'),
  criacao: instant,
})

const cobParts = {
  calendario: strict({ criacao: instant, expiracao: Type.Integer({ minimum: 1 }) }),
  txid,
  revisao: Type.Integer({ minimum: 0 }),
  devedor: Type.Optional(Type.Union([strict({ cpf, nome }), strict({ cnpj, nome })])),
  loc,
  location: Type.String({ maxLength: 77 }),
  status: Type.Enum(['ATIVA', 'CONCLUIDA', 'REMOVIDA_PELO_USUARIO_RECEBEDOR', 'REMOVIDA_PELO_PSP']),
  valor: strict({ original: valor, modalidadeAlteracao: Type.Optional(Type.Integer({ minimum: 0, maximum: 1 })) }),
  chave,
  solicitacaoPagador: Type.Optional(Type.String({ maxLength: 140 })),
  infoAdicionais: Type.Optional(
    Type.Array(strict({ nome: Type.String({ maxLength: 50 }), valor: Type.String({ maxLength: 200 }) }), {
      maxItems: 50,
    }),
  ),
  pixCopiaECola: Type.Optional(Type.String({ maxLength: 512 })),
}

const cobCompletaParts = { ...cobParts, pix: Type.Optional(Type.Array(strict(pixParts), { minItems: 1 })) }

const paginacao = strict({
  paginaAtual: Type.Integer({ minimum: 0 }),
  itensPorPagina: Type.Integer({ minimum: 1 }),
  quantidadeDePaginas: Type.Integer({ minimum: 1 }),
  quantidadeTotalDeItens: Type.Integer({ minimum: 0 }),
})

const window = { inicio: Type.String(), fim: Type.String() }
const documents = { cpf: Type.Optional(cpf), cnpj: Type.Optional(cnpj) }

const webhook = strict({ webhookUrl: Type.String({ minLength: 1 }), chave, cnpj, criacao: instant })

const sent = strict({
  idEnvio: Type.String({ pattern: '^[a-zA-Z0-9]{1,35}$' }),
  e2eId: endToEndId,
  endToEndId,
  valor,
  horario: strict({ solicitacao: instant }),
  status: Type.Literal('EM_PROCESSAMENTO'),
})

const sentDetail = strict({
  endToEndId,
  idEnvio: Type.String({ pattern: '^[a-zA-Z0-9]{1,35}$' }),
  valor,
  chave,
  status: Type.Enum(['EM_PROCESSAMENTO', 'REALIZADO', 'NAO_REALIZADO']),
  infoPagador: Type.Optional(Type.String({ maxLength: 140 })),
  horario: strict({ solicitacao: instant, liquidacao: Type.Optional(instant) }),
  favorecido: strict({ chave, identificacao: person }),
  devolucoes: Type.Optional(Type.Array(strict({ rtrId, valor, horario: instant }), { minItems: 1 })),
})

const codeDetail = strict({
  tipoCob: Type.Literal('cob'),
  txid: Type.String(),
  revisao: Type.Integer({ minimum: 0 }),
  calendario: strict({ criacao: instant, apresentacao: instant, expiracao: Type.Integer({ minimum: 1 }) }),
  status: cobParts.status,
  devedor: Type.Optional(person),
  recebedor: person,
  valor: strict({ original: valor, final: valor }),
  chave,
  solicitacaoPagador: cobParts.solicitacaoPagador,
  infoAdicionais: cobParts.infoAdicionais,
})

const problem = strict({
  type: Type.String({ pattern: '^https://pix\\.bcb\\.gov\\.br/api/v2/error/[A-Za-z]+$|^about:blank$' }),
  title: Type.String({ minLength: 1 }),
  status: Type.Integer(),
  detail: Type.String({ minLength: 1 }),
  correlationId: Type.String({ minLength: 1 }),
  violacoes: Type.Optional(
    Type.Array(
      strict({ razao: Type.String({ minLength: 1 }), propriedade: Type.String(), valor: Type.Optional(Type.String()) }),
      { minItems: 1 },
    ),
  ),
})

const efiError = strict({ nome: Type.String({ pattern: '^[a-z_]+$' }), mensagem: Type.String({ minLength: 1 }) })

/** Schema of the successful response of each call; the first match counts. */
const answers: readonly (readonly [call: RegExp, status: number, schema: TSchema])[] = [
  [/^(?:PUT \/v2\/cob\/[^/?]+|POST \/v2\/cob)$/, 201, strict(cobParts)],
  [/^PATCH \/v2\/cob\/[^/?]+$/, 200, strict(cobParts)],
  [/^GET \/v2\/cob\/[^/?]+/, 200, strict(cobCompletaParts)],
  [
    /^GET \/v2\/cob\?/,
    200,
    list(
      {
        ...window,
        ...documents,
        locationPresente: Type.Optional(Type.Boolean()),
        status: Type.Optional(Type.String()),
      },
      { cobs: Type.Array(strict({ ...cobCompletaParts, idCob: Type.Integer({ minimum: 1 }) })) },
    ),
  ],
  [/^(?:PUT|GET) \/v2\/pix\/[^/?]+\/devolucao\/[^/?]+$/, 0, devolucao],
  [/^GET \/v2\/pix\/[^/?]+$/, 200, strict(pixParts)],
  [
    /^GET \/v2\/pix\?/,
    200,
    list(
      {
        ...window,
        ...documents,
        txid: Type.Optional(Type.String()),
        txIdPresente: Type.Optional(Type.Boolean()),
        devolucaoPresente: Type.Optional(Type.Boolean()),
      },
      { pix: Type.Array(strict(pixParts)) },
    ),
  ],
  [/^GET \/v2\/loc\/[^/?]+$/, 200, loc],
  [
    /^GET \/v2\/loc\/[^/?]+\/qrcode$/,
    200,
    strict({
      qrcode: Type.String({ maxLength: 512 }),
      imagemQrcode: Type.String({ pattern: '^data:image/svg\\+xml;base64,' }),
    }),
  ],
  [/^PUT \/v2\/webhook\/[^/?]+$/, 200, Type.Literal('')],
  [/^DELETE \/v2\/webhook\/[^/?]+$/, 204, Type.Literal('')],
  [/^GET \/v2\/webhook\/[^/?]+$/, 200, webhook],
  [
    /^GET \/v2\/webhook/,
    200,
    list(
      { inicio: Type.Optional(Type.String()), fim: Type.Optional(Type.String()) },
      { webhooks: Type.Array(webhook) },
    ),
  ],
  [/^PUT \/v[23]\/gn\/pix\/[^/?]+(?:\/qrcode)?$/, 201, sent],
  [/^POST \/v2\/gn\/qrcodes\/detalhar$/, 200, codeDetail],
  [/^GET \/v2\/gn\/pix\/enviados\/(?:id-envio\/)?[^/?]+$/, 200, sentDetail],
  [
    /^GET \/v2\/gn\/pix\/enviados\?/,
    200,
    list(
      {
        ...window,
        ...documents,
        status: Type.Optional(Type.String()),
        devolucaoPresente: Type.Optional(Type.Boolean()),
      },
      { pix: Type.Array(sentDetail) },
    ),
  ],
  [
    /^GET \/v2\/gn\/saldo/,
    200,
    strict({
      saldo: Type.String({ pattern: '^-?\\d{1,10}\\.\\d{2}$' }),
      bloqueios: Type.Optional(strict({ judicial: valor, med: valor, total: valor })),
    }),
  ],
]

/** Deviations of a response from its schema. */
export function faultsOf(method: string, path: string, status: number, body: unknown): string[] {
  if (status >= 500 && typeof body === 'string') return []
  const schema = status >= 400 ? refusalSchema(body) : schemaOf(`${method} ${path}`, status)
  if (schema === undefined) return [`no schema for ${method} ${path} ${status}`]
  return [...Errors(schema, body)].map((error) => `${error.instancePath} ${error.message}`)
}

function refusalSchema(body: unknown): TSchema {
  return 'nome' in Object(body) ? efiError : problem
}

function schemaOf(call: string, status: number): TSchema | undefined {
  const [, wanted, schema] = answers.find(([pattern]) => pattern.test(call)) ?? []
  const isPut = call.startsWith('PUT')
  const fits = wanted === 0 ? status === (isPut ? 201 : 200) : wanted === status
  return fits ? schema : undefined
}

function list(parametros: TProperties, items: TProperties): TSchema {
  return strict({ parametros: strict({ ...parametros, paginacao }), ...items })
}

function strict<P extends TProperties>(properties: P): TObject<P> {
  return Type.Object(properties, { additionalProperties: false })
}
