import { subscribe } from 'node:diagnostics_channel'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { cashIn, cashOut, endpoints, errors, type Machine, type Row, refundIn } from '@pixgate/spec'

/** Coverage by meaning: which endpoints, error codes and rows of the state tables a test run used. */

const MACHINES: readonly Machine[] = [cashIn, cashOut, refundIn]

const ROUTES = Object.values(endpoints).map(({ id, method, path }) => ({
  id,
  method,
  pattern: new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}(\\?|$)`),
}))

/** Everything that a run can use. An endpoint counts when it answers a request with less than 400. */
export const EVERYTHING: readonly string[] = [
  ...ROUTES.map(({ id }) => `endpoint ${id}`),
  ...Object.keys(errors).map((code) => `error ${code}`),
  ...MACHINES.flatMap((machine) => machine.rows.map((row) => nameOf(machine, row))),
]

function nameOf({ resource }: Machine, { rule, from, because, on, to }: Row): string {
  return `row ${resource} ${rule}: ${from ?? '(none)'}${because === null ? '' : `:${because}`} ${on} → ${to}`
}

/** Starts observing this process. @returns the names that were used, added as they occur */
export function observe(): ReadonlySet<string> {
  const used = new Set<string>()
  subscribe('http.server.request.start', (message) => {
    const { request, response } = message as { request: IncomingMessage; response: ServerResponse }
    observeResponse(request, response, used)
  })
  for (const machine of MACHINES) for (const row of machine.rows) observeRow(nameOf(machine, row), row, used)
  return used
}

const CODE = /"code":"(\w+)"/

function observeResponse(request: IncomingMessage, response: ServerResponse, used: Set<string>): void {
  const end = response.end
  response.end = ((...given: Parameters<typeof end>) => {
    const [body] = given as readonly unknown[]
    const route = ROUTES.find(({ method, pattern }) => method === request.method && pattern.test(request.url ?? ''))
    if (route && response.statusCode < 400) used.add(`endpoint ${route.id}`)
    const code = response.statusCode >= 400 && CODE.exec(String(body))?.[1]
    if (code) used.add(`error ${code}`)
    return end.apply(response, given)
  }) as typeof end
}

/** Only the decision about an operation reads `isIgnored`, and only of the row that applies. */
function observeRow(name: string, row: Row, used: Set<string>): void {
  const { isIgnored } = row
  Object.defineProperty(row, 'isIgnored', {
    configurable: true,
    enumerable: true,
    get: () => {
      used.add(name)
      return isIgnored
    },
  })
}

/** Exceptions: exercised by drills only. */
export const NOT_EXERCISED: ReadonlySet<string> = new Set([])
