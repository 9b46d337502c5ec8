import type { FastifyReply, FastifyRequest } from 'fastify'

/** Problem types: HTTP status, title, default detail. @source BCB, API Pix («Tratamento de erros»), Efí for the last two */
export const problemTypes = {
  RequisicaoInvalida: [400, 'Requisição inválida.', 'A requisição não respeita o schema.'],
  AcessoNegado: [403, 'Acesso Negado', 'Requisição de participante autenticado que viola alguma regra de autorização.'],
  NaoEncontrado: [404, 'Não Encontrado', 'Entidade não encontrada.'],
  ErroInternoDoServidor: [500, 'Erro interno do servidor.', 'Condição inesperada ao processar requisição.'],
  ServicoIndisponivel: [503, 'Serviço Indisponível', 'Serviço não está disponível no momento.'],
  CobPayloadNaoEncontrado: [404, 'Cobrança não encontrada.', 'A location não exibe nenhuma cobrança.'],
  CobNaoEncontrado: [404, 'Cobrança não encontrada.', 'Cobrança não encontrada para o txid informado.'],
  CobOperacaoInvalida: [
    400,
    'Cobrança inválida.',
    'A requisição que busca alterar ou criar uma cobrança não respeita o schema ou está semanticamente errada.',
  ],
  CobConsultaInvalida: [
    400,
    'Consulta inválida.',
    'Os parâmetros de consulta não respeitam o schema ou não fazem sentido semanticamente.',
  ],
  PixNaoEncontrado: [404, 'Pix não encontrado.', 'Pix não encontrado para o e2eid informado.'],
  PixConsultaInvalida: [
    400,
    'Consulta inválida.',
    'Os parâmetros de consulta não respeitam o schema ou não fazem sentido semanticamente.',
  ],
  PixDevolucaoNaoEncontrada: [
    404,
    'Devolução não encontrada.',
    'Devolução representada por id não encontrada para o e2eid informado.',
  ],
  PixDevolucaoInvalida: [
    400,
    'Devolução inválida.',
    'A requisição de devolução não respeita o schema ou não faz sentido semanticamente.',
  ],
  PayloadLocationNaoEncontrado: [404, 'Location não encontrada.', 'Location não encontrada para o id informado.'],
  PayloadLocationConsultaInvalida: [
    400,
    'Consulta inválida.',
    'Os parâmetros de consulta não respeitam o schema ou não fazem sentido semanticamente.',
  ],
  WebhookNaoEncontrado: [404, 'Webhook não encontrado.', 'O webhook da chave não encontra-se estabelecido.'],
  WebhookOperacaoInvalida: [
    400,
    'Webhook inválido.',
    'A requisição busca criar um webhook sem respeitar o schema ou com sentido semanticamente inválido.',
  ],
  WebhookConsultaInvalida: [
    400,
    'Consulta inválida.',
    'Os parâmetros de consulta não respeitam o schema ou não fazem sentido semanticamente.',
  ],
  PixEnviadoNaoEncontrado: [404, 'Não Encontrado', 'Pix enviado não encontrado para o identificador informado.'],
  QrcodeOperacaoInvalida: [
    400,
    'Operação Inválida',
    'A requisição não respeita o schema ou está semanticamente errada.',
  ],
} as const

/** A key of {@link problemTypes}. */
export type ProblemType = keyof typeof problemTypes

/** An invalid field of a request. */
export interface Violation {
  readonly razao: string
  /** Path of the field, such as `cob.valor.original`. */
  readonly propriedade: string
  readonly valor?: string
}

/** A refusal in the format of RFC 7807. Nothing was executed, unless the type is ErroInternoDoServidor. */
export class Problem extends Error {
  override readonly name = 'Problem'
  readonly type: ProblemType
  readonly status: number
  readonly violations: readonly Violation[]

  constructor(
    type: ProblemType,
    violations: readonly Violation[] = [],
    status: number = problemTypes[type][0],
    detail: string = problemTypes[type][2],
  ) {
    super(detail)
    this.type = type
    this.status = status
    this.violations = violations
  }
}

/** A refusal in Efí's own format. */
export class EfiError extends Error {
  override readonly name = 'EfiError'
  readonly status: number
  readonly nome: string

  constructor(status: number, nome: string, mensagem: string) {
    super(mensagem)
    this.status = status
    this.nome = nome
  }
}

/** Sends a problem response. @param correlationId names the request */
export function sendProblem(
  reply: FastifyReply,
  { type, status, message: detail, violations }: Problem,
  correlationId: string,
): FastifyReply {
  const common = { type: `https://pix.bcb.gov.br/api/v2/error/${type}`, title: problemTypes[type][1], status, detail }
  const violacoes = violations.length > 0 ? { violacoes: violations } : {}
  return sendBody(reply, { ...common, correlationId, ...violacoes })
}

interface ProblemBody {
  readonly type: string
  readonly title: string
  readonly status: number
  readonly detail: string
  readonly correlationId: string
}

function sendBody(reply: FastifyReply, problem: ProblemBody): FastifyReply {
  // Sent as bytes: for text Fastify adds a charset parameter, which this media type does not have.
  const bytes = Buffer.from(JSON.stringify(problem))
  return reply.code(problem.status).type('application/problem+json').send(bytes)
}

/** Sends 404 for a path that this server does not have. Its type is none of the standard's, which mean a missing object. */
export function sendUnknownPath(reply: FastifyReply, { method, originalUrl, id }: FastifyRequest): FastifyReply {
  const detail = `O simulador não tem este caminho: ${method} ${originalUrl.split('?')[0]}`
  return sendBody(reply, { type: 'about:blank', title: 'Caminho inexistente', status: 404, detail, correlationId: id })
}

/** Sends an error response in Efí's own format. */
export function sendEfiError(reply: FastifyReply, { status, nome, message: mensagem }: EfiError): FastifyReply {
  return reply.code(status).send({ nome, mensagem })
}
