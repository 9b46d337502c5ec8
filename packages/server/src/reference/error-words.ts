/** The languages of the page of errors. */
export type Language = 'en' | 'pt-BR'

/** What the page and the document of errors say around the errors; code stands in backquotes. */
export interface ErrorWords {
  readonly title: string
  readonly intro: string
  readonly columns: readonly [code: string, status: string, message: string]
  readonly whatToDo: string
  readonly answeredBy: string
  /** Sets of endpoints that answer the same error for the same reason. */
  readonly everyEndpoint: Readonly<Record<EndpointGroup, string>>
  readonly unknownPaths: string
  readonly everyPath: string
}

/** The names of the sets of endpoints. */
export type EndpointGroup = 'all' | 'withCredentials' | 'withBody' | 'withBodyOfClients'

/** @source rules#reference.3 */
export const errorWords: Readonly<Record<Language, ErrorWords>> = {
  en: {
    title: 'Errors',
    intro:
      'Every error is `application/problem+json`. Decide on its `code`, which never changes its meaning. `message`, which also stands in `detail`, is for people: it is exactly the text below, unless it names the faulty field. `errors` names the faulty fields, and `correlationId` is what the log of the service has it under. `type` is the address of the error’s section at the service itself: `/docs/errors#duplicate_external_id`.',
    columns: ['code', 'HTTP', 'message'],
    whatToDo: 'What to do:',
    answeredBy: 'Answered by',
    everyEndpoint: {
      all: 'every endpoint',
      withCredentials: 'every endpoint that asks for credentials',
      withBody: 'every endpoint that takes a body',
      withBodyOfClients: 'every endpoint that takes a body, but for the bank’s events',
    },
    unknownPaths: 'paths that do not exist',
    everyPath: 'every path, for the methods that it does not have',
  },
  'pt-BR': {
    title: 'Erros',
    intro:
      'Todo erro é `application/problem+json`. Decida pelo `code`, cujo significado nunca muda. `message`, que também está em `detail`, é para pessoas: é exatamente o texto abaixo, a não ser que indique o campo com problema. `errors` indica os campos com problema, e `correlationId` é como o log do serviço registra o erro. `type` é o endereço da seção do erro no próprio serviço: `/docs/errors#duplicate_external_id`.',
    columns: ['código', 'HTTP', 'mensagem'],
    whatToDo: 'O que fazer:',
    answeredBy: 'Respondido por',
    everyEndpoint: {
      all: 'todos os endpoints',
      withCredentials: 'todos os endpoints que pedem credenciais',
      withBody: 'todos os endpoints que recebem um corpo',
      withBodyOfClients: 'todos os endpoints que recebem um corpo, exceto o dos eventos do banco',
    },
    unknownPaths: 'caminhos que não existem',
    everyPath: 'todos os caminhos, nos métodos que eles não têm',
  },
}
