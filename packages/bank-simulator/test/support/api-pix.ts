import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, type TestContext } from 'node:test'
import { Agent, request } from 'undici'
import { type ApiPix, type Credential, type SimulatorOptions, startSimulator } from '../../src/index.ts'
import { record } from './api-pix-recording.ts'
import { faultsOf } from './api-pix-schemas.ts'
import { type Answer, bankDirectory, callsTo, SECRET, type TestBank, TOKEN } from './bank.ts'
import { runningClock } from './clocks.ts'

/** OAuth client of the tests. */
export const CLIENT = { id: 'Client_Id_test', secret: 'Client_Secret_test' }

/** The account's keys. */
export const KEYS = ['11222333000181', 'loja@exemplo.com.br'] as const

/** Txid of {@link COB}. */
export const TXID = '0198c0de7a11700080005f1d3c2b1a09'

/** Charge of the tests. */
export const COB = {
  calendario: { expiracao: 3_600 },
  devedor: { cpf: '11144477735', nome: 'João Souza' },
  valor: { original: '150.00' },
  chave: KEYS[1],
  solicitacaoPagador: 'Pedido 1',
  infoAdicionais: [{ nome: 'Loja', valor: 'Centro' }],
}

/** Query of a window with all times of the tests. */
export const WINDOW = 'inicio=2026-11-01T00:00:00Z&fim=2026-12-01T00:00:00Z'

let certificates: Promise<string> | undefined

/** A directory of certificates for all banks of a process: they take a while to make. */
export function certificatesDirectory(): Promise<string> {
  certificates ??= mkdtemp(join(tmpdir(), 'pixgate-certificates-'))
  return certificates
}

after(async () => {
  if (certificates) await rm(await certificates, { recursive: true, force: true })
})

/** Deviations of a call. */
export interface CallOptions {
  /** Instead of a valid token. */
  readonly token?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** An answer over HTTPS. */
export interface HttpsAnswer extends Answer {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly text: string
}

/** A bank with API Pix. */
export interface ApiPixBank extends Pick<TestBank, 'book' | 'url' | 'stop'> {
  readonly apiPix: ApiPix
  readonly directory: string
  /** Calls a control. */
  control(method: string, path: string, body?: unknown): Promise<Answer>
  /** Calls with a valid certificate and token, and asserts that the response conforms to the standard. */
  call(method: string, path: string, body?: unknown, options?: CallOptions): Promise<HttpsAnswer>
  /** Gets a token with these scopes. */
  token(scope?: string): Promise<string>
  /** Creates a charge, {@link COB} by default. */
  cob(change?: object, txid?: string): Promise<HttpsAnswer>
  /** Creates and pays a charge. @returns the EndToEndId */
  paidCob(txid?: string): Promise<string>
  /** Sets these lies to apply always. */
  lie(...lies: string[]): Promise<Answer>
}

/** Starts a bank until the end of the test. */
export async function startApiPixBank(t: TestContext, options: Partial<SimulatorOptions> = {}): Promise<ApiPixBank> {
  const directory = options.dataDirectory ?? (await bankDirectory(t))
  const simulator = await startSimulator({
    port: 0,
    dataDirectory: directory,
    token: TOKEN,
    secret: SECRET,
    warn: () => undefined,
    clock: runningClock(),
    apiPix: { port: 0, certificatesDirectory: await certificatesDirectory(), client: CLIENT, keys: KEYS },
    ...options,
  })
  const { apiPix } = simulator
  assert.ok(apiPix)
  const agent = agentOf(apiPix)
  let stopped: Promise<void> | undefined
  const stop = async () => {
    stopped ??= agent.destroy().then(() => simulator.stop())
    await stopped
  }
  t.after(() => (stopped === undefined ? stop() : undefined))
  const control = callsTo(simulator.url)
  const token = (scope?: string) => tokenOf(apiPix, agent, scope)
  let good: Promise<string> | undefined
  const call: ApiPixBank['call'] = async (method, path, body, { token: given, headers = {} } = {}) => {
    good ??= token()
    const bearer = given ?? (await good)
    const answer = await send(apiPix, agent, method, path, body, { authorization: `Bearer ${bearer}`, ...headers })
    assertFits(method, path, answer)
    record({ method, path, body, status: answer.status, headers: answer.headers, answer: answer.body })
    return answer
  }
  return {
    ...simulator,
    apiPix,
    stop,
    directory,
    control,
    call,
    token,
    cob: (change = {}, txid = TXID) => call('PUT', `/v2/cob/${txid}`, { ...COB, ...change }),
    paidCob: async (txid = TXID) => {
      await call('PUT', `/v2/cob/${txid}`, COB)
      return (await control('POST', `/control/charges/${txid}/pay`)).body.endToEndId
    },
    lie: (...lies) =>
      control('PUT', '/control/lies', { perThousand: Object.fromEntries(lies.map((lie) => [lie, 1_000])) }),
  }
}

/** A connection of a client with this certificate, the bank's own client's by default. */
export function agentOf({ certificates }: ApiPix, client: Credential | undefined = certificates.client): Agent {
  return new Agent({
    connect: { ca: certificates.authority.certificate, ...(client && { cert: client.certificate, key: client.key }) },
  })
}

/** Makes one call. Rejects without a complete response. */
export async function send(
  { url }: Pick<ApiPix, 'url'>,
  agent: Agent,
  method: string,
  path: string,
  body?: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<HttpsAnswer> {
  const hasJson = body !== undefined && !('content-type' in headers)
  const answer = await request(url + path, {
    dispatcher: agent,
    method: method as 'GET',
    headers: { ...(hasJson && { 'content-type': 'application/json' }), ...headers },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  const text = await answer.body.text()
  const isJson = String(answer.headers['content-type']).includes('json')
  return { status: answer.statusCode, headers: answer.headers, text, body: isJson ? JSON.parse(text) : text }
}

/** Asks for a token. */
export async function tokenOf(apiPix: ApiPix, agent: Agent, scope?: string): Promise<string> {
  const body = { grant_type: 'client_credentials', ...(scope !== undefined && { scope }) }
  const answer = await send(apiPix, agent, 'POST', '/oauth/token', body, { authorization: basic(CLIENT) })
  return answer.body.access_token
}

/** HTTP Basic credentials of a client. */
export function basic({ id, secret }: { readonly id: string; readonly secret: string }): string {
  return `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`
}

/** Invalid properties of a request, by the response. */
export function violated({ body }: Answer): string[] {
  return (body.violacoes ?? []).map(({ propriedade }: { propriedade: string }) => propriedade)
}

/** The end of the type of a problem. */
export function problemIn({ status, body }: Answer): [number, string] {
  return [status, String(body.type).replace('https://pix.bcb.gov.br/api/v2/error/', '')]
}

function assertFits(method: string, path: string, { status, headers, body }: HttpsAnswer): void {
  if (status >= 400 && 'type' in Object(body)) {
    assert.match(String(headers['content-type']), /^application\/problem\+json/)
  }
  assert.deepEqual(faultsOf(method, path, status, body), [], `${method} ${path} ${status} ${JSON.stringify(body)}`)
}
