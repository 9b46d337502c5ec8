import { type Endpoint, eventTypes, tags } from '@pixgate/spec'
import { isForOperators } from '../platform/http/openapi.ts'
import { apiInfo } from './info.ts'
import { clientRules } from './pages.ts'

/** Links to further documents: addresses of the service, or paths of the repository. */
export type Places = Readonly<Record<'reference' | 'errors' | 'openapi' | 'collection', string>>

/**
 * Summary for a language model that writes a client, in the form of llms.txt.
 * @param isApart whether the operator's endpoints have their own address
 */
export function llmsText(endpoints: readonly Endpoint[], places: Places, isApart = false): string {
  const groups = Object.entries(tags).flatMap(([tag, description]) => {
    const members = endpoints.filter((endpoint) => endpoint.tag === tag)
    const lines = members.map((endpoint) => {
      const { method, path, summary } = endpoint
      return `- \`${method} ${path}\`: ${summary}${isApart && isForOperators(endpoint) ? ELSEWHERE : ''}`
    })
    return lines.length === 0 ? [] : [`### ${tag}\n\n${description}\n\n${lines.join('\n')}`]
  })
  const [summary, ...conventions] = apiInfo.description.split('\n\n')
  return `${[
    `# ${apiInfo.title}`,
    `> ${summary}`,
    ...conventions,
    ADVICE,
    '## Documents',
    [
      `- [OpenAPI 3.1](${places.openapi}): every operation, body, example and notification`,
      `- [Reference](${places.reference}): the same to read, with commands to try`,
      `- [Errors](${places.errors}): each code with cause and cure`,
      `- [Collection](${places.collection}): for Postman, Bruno or Insomnia`,
    ].join('\n'),
    '## Endpoints',
    ...groups,
  ].join('\n\n')}\n`
}

const ELSEWHERE = ' (at the operator’s port, `PIXGATE_OPERATOR_PORT`; 404 here)'

const ADVICE = [
  '## Before you write a client',
  '',
  '- Store your `externalId` before you send a create, and send the same one on every retry of it.',
  '- A timeout, a 500 or a lost connection is no refusal. What has an `externalId`, or for 24 hours an `Idempotency-Key`, is carried out once under it: send the same request again, or look it up by `external_id`.',
  '- A refund without `externalId` and an adjustment without `Idempotency-Key` are carried out again when they are sent again: look first, with `GET /api/pix/refund?cash_in_id=…` or `GET /api/pix/ledger?operation=ADJUSTMENT`.',
  '- Ignore fields and statuses that you do not know: there may be more.',
  `- Receivers get ${eventTypes.map((type) => `\`${type}\``).join(', ')}: verify \`Digital-Signature\` (ECDSA P-256, SHA-256, DER, Base64) over the raw body with the key of \`GET /public-keys\` that \`Digital-Signature-Key-Id\` names, or \`webhook-signature\` as Standard Webhooks says with the \`secret\` of the receiver, answer 2xx within 5 seconds, and count each \`webhook-id\` once.`,
  ...clientRules.map((rule) => `- ${rule}`),
].join('\n')
