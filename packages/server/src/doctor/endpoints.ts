import { limits, Refusal } from '@pixgate/spec'
import { connectionProblem, errorCode } from '../platform/connection-problem.ts'
import { bad, type Finding, good } from '../platform/finding.ts'
import {
  type AddressGate,
  NotConnected,
  openGate,
  publicAddressGate,
  tryConnection,
} from '../platform/http-client/agent.ts'
import { endpointUrl } from '../webhooks/endpoint-url.ts'
import type { WebhookEndpoint } from '../webhooks/endpoints.ts'

type Endpoint = Pick<WebhookEndpoint, 'id' | 'url'>

/**
 * Connects to every webhook endpoint as a delivery would, and hangs up: nothing is sent. The path of its address is not shown, as it
 * may be a secret.
 * @source rules#doctor.5
 */
export async function examineEndpoints(
  endpoints: readonly Endpoint[],
  allowPrivate: boolean,
  gate: AddressGate = allowPrivate ? openGate() : publicAddressGate(),
): Promise<readonly Finding[]> {
  return Promise.all(endpoints.map((endpoint) => examineEndpoint(endpoint, allowPrivate, gate)))
}

async function examineEndpoint({ id, url }: Endpoint, allowPrivate: boolean, gate: AddressGate): Promise<Finding> {
  const check = 'webhook endpoint'
  const { origin } = new URL(url)
  try {
    await tryConnection(gate, endpointUrl(url, allowPrivate), limits.webhookConnectTimeoutMs)
    return good(check, `${origin} takes connections`)
  } catch (error) {
    return bad(check, `${origin} ${problemOf(error)}: repair it, or remove it with DELETE /webhook/${id}`)
  }
}

function problemOf(error: unknown): string {
  if (error instanceof Refusal) return 'is not an address that production delivers to'
  if (!(error instanceof NotConnected)) throw error
  if (error.reason === 'address_not_allowed') return `is not delivered to, as ${error.message}`
  if (error.reason === 'dns') return connectionProblem(errorCode(error.cause) ?? 'ENOTFOUND')
  return connectionProblem(error.reason === 'timeout' ? 'timeout' : errorCode(error.cause))
}
