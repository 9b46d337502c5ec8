import { type EventType, eventExamples, eventSchemas, eventTypes } from '@pixgate/spec'
import type { NamedSchemas } from './openapi-schemas.ts'

/**
 * The notifications of the service, as operations of whoever receives them: the schemas are the published ones.
 * @source rules#events.2, rules#webhooks.8
 */
export function webhooksOf(schemas: NamedSchemas): Readonly<Record<string, unknown>> {
  return Object.fromEntries(eventTypes.map((type) => [type, { post: webhookOf(type, schemas) }]))
}

function webhookOf(type: EventType, schemas: NamedSchemas) {
  const { description } = eventSchemas[type] as { readonly description?: string }
  return {
    operationId: `receive_${type}`,
    tags: ['Notifications'],
    summary: SUMMARIES[type],
    description: `${description} The same event may come more than once, and before or after others.`,
    security: [],
    parameters: webhookHeaders.map((header) => ({ in: 'header', ...header })),
    requestBody: {
      required: true,
      content: { 'application/json': { schema: schemas.write(eventSchemas[type]), example: eventExamples[type] } },
    },
    responses: {
      200: { description: 'Accepted: any 2xx within 5 seconds, whatever the body' },
      204: { description: 'Accepted' },
      401: { description: 'The signature does not verify; sent again, signed anew' },
      500: { description: 'Not accepted; sent again, as after every 5xx and every timeout' },
    },
  }
}

const SUMMARIES: Readonly<Record<EventType, string>> = {
  pix_cash_in: 'A charge was paid, or failed',
  pix_cash_out: 'A payout arrived, or failed',
  pix_cash_in_reversal: 'A refund arrived, or failed',
  pix_cash_out_reversal: 'A payout came back',
}

/**
 * The headers of a notification, as parameters of whoever receives it. Who sends them writes them in lower case, and their case
 * means nothing.
 * @source rules#webhooks.8, rules#webhook-secrets.1
 */
export const webhookHeaders = [
  {
    name: 'Digital-Signature',
    description: 'Base64 of the DER form of ECDSA P-256 with SHA-256 over the exact bytes of the body.',
    schema: { type: 'string', maxLength: 96 },
    example: 'MEQCIG0g8uMwJUa3gduODyHGILSZmzIes2HUy/qrEB5/Cp29AiBFk6B2ZFtP6OM/TbJ60cw1ywmW9WHoMs3VeLpGQZwsaw==',
    required: true,
  },
  {
    name: 'Digital-Signature-Key-Id',
    description: 'Which key signed: the first 16 characters of the base64url SHA-256 of its SPKI.',
    schema: { type: 'string', maxLength: 16 },
    example: 'brBF9ATMQOcuvXdP',
    required: true,
  },
  {
    name: 'webhook-id',
    description: 'The same on every attempt to send this notification, and on no other one.',
    schema: { type: 'string', format: 'uuid' },
    example: '01a1fc89-3f0a-71a6-829e-5bdab2191d18',
    required: true,
  },
  {
    name: 'webhook-timestamp',
    description: 'When this attempt was made, in Unix seconds.',
    schema: { type: 'string', pattern: '^\\d+$' },
    example: '1795238215',
    required: true,
  },
  {
    name: 'webhook-signature',
    description:
      'As Standard Webhooks says: `v1,` and the Base64 of the HMAC-SHA256 of `webhook-id`, `webhook-timestamp` and the body with a full stop between, under the secret of the receiver; one for each secret while it is exchanged, with a space between. Not there where the receiver has no secret.',
    // Four of 47 characters, and the spaces.
    schema: { type: 'string', maxLength: 191 },
    example: 'v1,aRraWwSDNSYsdPwiUZGujP2fYiaIhA0IzsdCfdskswU=',
    required: false,
  },
] as const
