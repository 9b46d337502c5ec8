import type { Credential, Endpoint } from '@pixgate/spec'
import { isForOperators } from './for-operators.ts'

/** What a shell has in its variables, by who may call. The bank signs: there is no line for that. */
const TOKENS: Readonly<Partial<Record<Credential, string>>> = {
  'api-key': '$PIXGATE_API_KEY',
  admin: '$PIXGATE_ADMIN_TOKEN',
}

/**
 * The request of an endpoint's example as a command of curl, or `undefined` where the bank calls. Ids stand in variables
 * that are called by what they are the id of: `$CASH_IN_ID`.
 * @param isApart whether the operator's endpoints have an address of their own
 * @source rules#reference.5, rules#operators.8
 */
export function curlOf(endpoint: Endpoint, isApart = false): string | undefined {
  const { method, path, auth, params, body, example } = endpoint
  if (auth === 'partner') return undefined
  const { properties = {} } = (params ?? {}) as { readonly properties?: Readonly<Record<string, Described>> }
  const address = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const resource = resourceOfId(properties[name]?.description)
    return `$${resource.replaceAll('-', '_').toUpperCase()}_ID`
  })
  const token = TOKENS[auth]
  const service = isApart && isForOperators(endpoint) ? '$PIXGATE_OPERATOR_URL' : '$PIXGATE_URL'
  return [
    `curl -sS ${method === 'GET' ? '' : `-X ${method} `}"${service}${address}"`,
    ...(token === undefined ? [] : [`-H "Authorization: Bearer ${token}"`]),
    ...(body === undefined
      ? []
      : ["-H 'Content-Type: application/json'", `-d ${quoted(JSON.stringify(example ?? {}))}`]),
  ].join(' \\\n  ')
}

interface Described {
  readonly description?: string
}

/**
 * What an id in a path is the id of: `UUID of the cash-in` → `cash-in`.
 * @throws Error where its description does not say so
 */
export function resourceOfId(description = ''): string {
  const [, resource] = /^(?:UUID|Id) of the ([a-z-]+)$/.exec(description) ?? []
  if (resource === undefined) throw new Error(`«${description}» does not say what it is the id of`)
  return resource
}

/** A word that a shell reads as it is. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}
