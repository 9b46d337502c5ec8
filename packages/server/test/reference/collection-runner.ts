import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { runInNewContext } from 'node:vm'

/**
 * Runs a collection as Postman and Newman do, as far as ours needs it: variables, scripts on answers, and going back to a
 * request. The pauses that a script makes are left out.
 */

interface Variable {
  readonly key: string
  readonly value: string
}

interface Item {
  readonly name: string
  readonly item?: readonly Item[]
  readonly event?: readonly { readonly listen: string; readonly script: { readonly exec: readonly string[] } }[]
  readonly request?: ItemRequest
}

interface Auth {
  readonly type: 'bearer' | 'noauth'
  readonly bearer?: readonly Variable[]
}

interface ItemRequest {
  readonly method: string
  readonly auth?: Auth
  readonly header: readonly Variable[]
  readonly body?: { readonly raw: string }
  readonly url: { readonly raw: string; readonly variable: readonly Variable[] }
}

/** What is read of a collection. */
export interface Collection {
  readonly auth: Auth
  readonly variable: readonly Variable[]
  readonly item: readonly Item[]
}

/** What a request of a run got. */
export interface Ran {
  readonly name: string
  readonly status: number
  readonly text: string
}

/** Every request of a collection, in the order in which a runner makes them. */
export function requestsOf({ item }: Pick<Collection, 'item'>): readonly Item[] {
  return item.flatMap((inner) => (inner.item ? requestsOf({ item: inner.item }) : [inner]))
}

/** Runs a collection from its first request to its last. @param given what its reader fills in */
export async function runCollection(
  collection: Collection,
  given: Readonly<Record<string, string>>,
): Promise<readonly Ran[]> {
  const variables = new Map([
    ...collection.variable.map(({ key, value }) => [key, value] as const),
    ...Object.entries(given),
  ])
  const requests = requestsOf(collection)
  const ran: Ran[] = []
  for (let index = 0; index < requests.length; ) {
    const item = requests[index] as Item
    const response = await send(item.request as ItemRequest, collection.auth, variables)
    const text = await response.text()
    ran.push({ name: item.name, status: response.status, text })
    const next = runScripts(item, response, text, variables)
    index = next === undefined ? index + 1 : requests.findIndex(({ name }) => name === next)
    assert.notEqual(index, -1, `no request is called ${next}`)
  }
  return ran
}

function send(request: ItemRequest, auth: Auth, variables: ReadonlyMap<string, string>): Promise<Response> {
  const { method, url, header, body } = request
  const path = url.raw.replaceAll(/:([a-z_]+)(?=\/|$)/g, (_, name: string) => {
    const value = url.variable.find(({ key }) => key === name)?.value
    return encodeURIComponent(filled(value ?? assert.fail(`no value for ${name} of ${url.raw}`), variables))
  })
  const { bearer = [] } = request.auth ?? auth
  return fetch(filled(path, variables), {
    method,
    headers: Object.fromEntries([
      ...header.map(({ key, value }) => [key, value]),
      ...bearer.map(({ value }) => ['authorization', `Bearer ${filled(value, variables)}`]),
    ]),
    ...(body && { body: filled(body.raw, variables) }),
  })
}

/** A text with the values of the variables that it names; one that is not filled in is a fault. */
function filled(text: string, variables: ReadonlyMap<string, string>): string {
  return text.replaceAll(/\{\{([$\w]+)\}\}/g, (_, name: string) => {
    if (name === '$guid') return randomUUID()
    return variables.get(name) || assert.fail(`{{${name}}} has no value`)
  })
}

/** @returns the request that a script wants next, or nothing */
function runScripts(
  { name, event = [] }: Item,
  { status, headers }: Response,
  text: string,
  variables: Map<string, string>,
): string | undefined {
  let next: string | undefined
  const failed: string[] = []
  const pm = {
    info: { requestName: name },
    response: { code: status, headers, json: () => JSON.parse(text), text: () => text },
    test: (assertion: string, hold: () => void) => {
      try {
        hold()
      } catch (error) {
        failed.push(`${name}: ${assertion}: ${error}`)
      }
    },
    collectionVariables: {
      get: (key: string) => variables.get(key),
      set: (key: string, value: unknown) => variables.set(key, String(value)),
    },
    execution: {
      setNextRequest: (wanted: string) => {
        next = wanted
      },
    },
  }
  for (const { listen, script } of event) {
    assert.equal(listen, 'test')
    runInNewContext(script.exec.join('\n'), { pm, setTimeout: () => undefined })
  }
  assert.deepEqual(failed, [])
  return next
}
