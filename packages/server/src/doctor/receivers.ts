import { limits, Refusal } from '@pixgate/spec'
import { connectionProblem, errorCode } from '../platform/connection-problem.ts'
import { bad, type Finding, good } from '../platform/finding.ts'
import { type AddressGate, openGate, publicAddressGate } from '../platform/http-client/address-gate.ts'
import { tryConnection } from '../platform/http-client/guarded-agent.ts'
import { NotConnected } from '../platform/http-client/not-connected.ts'
import { receiverUrl } from '../webhooks/receiver-url.ts'
import type { Subscription } from '../webhooks/store.ts'

type Receiver = Pick<Subscription, 'id' | 'url'>

/**
 * Connects to every receiver as a delivery would, and hangs up: nothing is sent. Of its address the path is not shown: it
 * may be a secret between the merchant and the receiver.
 * @source rules#doctor.5
 */
export async function examineReceivers(
  receivers: readonly Receiver[],
  allowPrivate: boolean,
  gate: AddressGate = allowPrivate ? openGate() : publicAddressGate(),
): Promise<readonly Finding[]> {
  return Promise.all(receivers.map((receiver) => examineReceiver(receiver, allowPrivate, gate)))
}

async function examineReceiver({ id, url }: Receiver, allowPrivate: boolean, gate: AddressGate): Promise<Finding> {
  const check = 'webhook receiver'
  const { origin } = new URL(url)
  try {
    await tryConnection(gate, receiverUrl(url, allowPrivate), limits.webhookConnectTimeoutMs)
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
