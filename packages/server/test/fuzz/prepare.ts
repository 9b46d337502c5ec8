import type { Target } from './campaign.ts'
import type { Corpus } from './corpus.ts'
import type { Operation } from './document.ts'

/** A service in which there is something to be found. */
export interface Prepared {
  readonly apiKey: string
  /** Everything that clients create, as it is listed now. Nothing but a client's request changes it. */
  readonly readLists: () => Promise<string>
  /** Makes the bank behave as it did before. */
  readonly resetBank: () => Promise<void>
}

/** How the bank behaves. */
export const BEHAVIOR = '/sandbox/behavior'

/** Makes a key and a few of everything, and tells the corpus of it. Keys that were there before are spared. */
export async function prepare(target: Target, operations: readonly Operation[], corpus: Corpus): Promise<Prepared> {
  let apiKey = ''
  async function call(method: string, path: string, body?: unknown): Promise<Answered> {
    const token = path.startsWith('/api-key') ? target.adminToken : apiKey
    const response = await fetch(`http://127.0.0.1:${target.port}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const answer = (await response.json()) as Answered
    if (!response.ok) throw new Error(`${method} ${path}: ${JSON.stringify(answer)}`)
    corpus.learn(path.split('?')[0] ?? '', answer)
    return answer
  }

  apiKey = String((await call('POST', '/api-key/generate')).apiKey)
  await call('GET', '/api-key?limit=100')
  corpus.spare('id of api-key')
  for (const number of [1, 2, 3, 4, 5]) {
    await call('POST', '/api-key/generate')
    await call('POST', '/webhook', { url: `${target.receiverUrl}/prepared/${number}`, events: ['pix_cash_in'] })
    const transaction = { value: number, externalId: `prepared-${number}-${apiKey.slice(-12)}` }
    const { id } = await call('POST', '/api/pix/cash-in', { transaction })
    if (number > 1) await call('POST', `/sandbox/cash-in/${id}/pay`)
  }
  await call('GET', '/api-key?limit=1')
  // Payments come by the bank's events.
  while ((await call('GET', '/api/pix/ledger?limit=1')).pagination?.nextCursor === null);

  const behavior = await call('GET', BEHAVIOR)
  const creations = operations.filter(({ answers }) => answers.has(201))
  const lists = operations
    .filter(({ method, path }) => method === 'GET' && creations.some((creation) => creation.path.startsWith(path)))
    .map(({ path, query }) => ('limit' in query ? `${path}?limit=100` : path))
  return {
    apiKey,
    readLists: async () => {
      const answers = await Promise.all(lists.map((path) => call('GET', path)))
      return answers.map(({ data, pagination }) => JSON.stringify([data?.map(idOf), pagination])).join('\n')
    },
    resetBank: async () => {
      await call('PUT', BEHAVIOR, behavior)
    },
  }
}

interface Answered {
  readonly apiKey?: string
  readonly id?: string
  readonly data?: readonly Listed[]
  readonly pagination?: { readonly nextCursor?: string | null }
}

interface Listed {
  readonly id?: string
  readonly webhook_id?: string
}

function idOf({ id, webhook_id }: Listed): string | undefined {
  return id ?? webhook_id
}
