import packageJson from '../../package.json' with { type: 'json' }
import type { OpenApiInfo } from '../platform/http/openapi.ts'

export const apiInfo: OpenApiInfo = {
  title: 'Pixgate',
  version: packageJson.version,
  description: [
    "An open-source gateway for Pix, Brazil's instant payments: charges, payouts, refunds, signed notifications and a ledger.",
    '**Keys.** The administrative token makes API keys (`POST /api-key/generate`); an API key opens the business endpoints. Both are sent as `Authorization: Bearer …`.',
    '**Money** in requests is reais with at most two decimals (`150.00`). In answers, fields that end in `Cents` or `_cents` are whole centavos; only the `amount` of the balance is reais.',
    '**A create is answered at once; its end comes later**, by a notification or when you read it. Retry a lost answer with the same `externalId`: the 409 tells the operation that exists. Never pay again under another one because an outcome is unknown.',
    '**Doubt is not failure.** `PROVIDER_RESULT_UNKNOWN`: read it every 60 seconds, and escalate after 15 minutes. `RECONCILIATION_REQUIRED`: open a support ticket with the `id` and the `X-Correlation-ID`, and do not conclude the operation in your systems. What each status means stands at its schema.',
    '**Errors** are `application/problem+json`. Decide on `code`; `type` leads to its cause and cure; `errors` names the faulty fields; give `correlationId` to whoever runs the service.',
    '**Limits.** 429 and 503 say in `Retry-After` how many seconds to wait.',
  ].join('\n\n'),
  license: packageJson.license,
  defaultHost: '127.0.0.1:8080',
}
