/**
 * A program of a client who has the types that `openapi-typescript` made in `api.ts`, and nothing else of ours. It is text,
 * because those types are made anew by the test that compiles it.
 */
export const program = `import type { components, paths } from './api.ts'

type Schemas = components['schemas']
type Method<Path extends keyof paths> = keyof paths[Path] & ('get' | 'post')
type Sent<Operation> = Operation extends { requestBody?: { content: { 'application/json': infer Body } } } ? Body : never
type Answer<Operation> = Operation extends { responses: infer Responses }
  ? { [Status in keyof Responses & (200 | 201 | 202)]: Responses[Status] extends { content: { 'application/json': infer Body } } ? Body : never }[keyof Responses & (200 | 201 | 202)]
  : never

interface Options<Operation> {
  readonly token: string
  readonly id?: string
  readonly body?: Sent<Operation>
}

export class ApiError extends Error {
  readonly problem: Schemas['Problem']
  constructor(problem: Schemas['Problem']) {
    super(problem.detail)
    this.problem = problem
  }
}

export function createClient(url: string) {
  return async function call<Path extends keyof paths, M extends Method<Path>>(
    method: M,
    path: Path,
    { token, id = '', body }: Options<paths[Path][M]>,
  ): Promise<Answer<paths[Path][M]>> {
    const response = await fetch(url + path.replace('{id}', id), {
      method: method.toUpperCase(),
      headers: { authorization: 'Bearer ' + token, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    if (!response.ok) throw new ApiError((await response.json()) as Schemas['Problem'])
    return (await response.json()) as Answer<paths[Path][M]>
  }
}

export async function sell(url: string, adminToken: string): Promise<Schemas['CashIn']> {
  const call = createClient(url)
  const { apiKey: token } = await call('post', '/api-key/generate', { token: adminToken })
  const order: Schemas['CashInRequest'] = { transaction: { value: 150.25, externalId: 'typed-1' } }
  const charge = await call('post', '/api/pix/cash-in', { token, body: order })
  const code: string | undefined = charge.pixCode
  if (code === undefined) throw new Error('no code')
  await call('post', '/sandbox/cash-in/{id}/pay', { token, id: charge.id, body: { payerName: 'Maria da Silva' } })
  for (;;) {
    const now = await call('get', '/api/pix/cash-in/{id}', { token, id: charge.id })
    if (now.status === 'PAID') return now
  }
}
`

/** Programs that mistake what the document says, each with the words of the compiler. */
export const mistakes: Readonly<Record<string, { readonly code: string; readonly complaint: RegExp }>> = {
  'a value as text': {
    code: "export const order: components['schemas']['CashInRequest'] = { transaction: { value: '1', externalId: 'a' } }",
    complaint: /'string' is not assignable to type 'number'/,
  },
  'a field that is not there': {
    code: "export const read = (charge: components['schemas']['CashIn']) => charge.amount",
    complaint: /'amount' does not exist/,
  },
  'a status that is not there': {
    code: "export const isDone = (charge: components['schemas']['CashIn']) => charge.status === 'DONE'",
    complaint: /no overlap/,
  },
  'a value that may be null': {
    code: "export const name = (charge: components['schemas']['CashIn']): string => charge.payerName",
    complaint: /'null' is not assignable|'string \| null' is not assignable/,
  },
}
