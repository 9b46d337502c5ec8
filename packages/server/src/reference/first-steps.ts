import { type Html, html } from './html.ts'

/**
 * From nothing to a charge that is paid, for a shell: the variables that it sets are those of the other commands.
 * @param url of a sandbox
 * @param operatorUrl where its operator's endpoints are answered, if not there
 * @param adminToken of the sandbox, or what stands for it
 * @source rules#reference.5, rules#operators.8
 */
export function firstSteps(url: string, operatorUrl: string | undefined, adminToken: string): string {
  const operators = operatorUrl === undefined ? '$PIXGATE_URL' : '$PIXGATE_OPERATOR_URL'
  return `PIXGATE_URL=${url}${operatorUrl === undefined ? '' : `\nPIXGATE_OPERATOR_URL=${operatorUrl}`}
PIXGATE_ADMIN_TOKEN=${adminToken}

# An API key: shown this once
PIXGATE_API_KEY=$(curl -sS -X POST "${operators}/api-key/generate" -H "Authorization: Bearer $PIXGATE_ADMIN_TOKEN" \\
  | grep -o 'pix_[a-z]*_[0-9A-Za-z]*'); echo "$PIXGATE_API_KEY"

# A charge of R$ 150,00
CASH_IN_ID=$(curl -sS "$PIXGATE_URL/api/pix/cash-in" -H "Authorization: Bearer $PIXGATE_API_KEY" \\
  -H 'Content-Type: application/json' -d '{"transaction":{"value":150.00,"externalId":"order-'$(date +%s)'"}}' \\
  | grep -o '"id":"[^"]*' | cut -d'"' -f4); echo "$CASH_IN_ID"

# The simulated bank's customer pays it
curl -sS -X POST "$PIXGATE_URL/sandbox/cash-in/$CASH_IN_ID/pay" -H "Authorization: Bearer $PIXGATE_API_KEY"; echo

# A moment later it is PAID
sleep 1; curl -sS "$PIXGATE_URL/api/pix/cash-in/$CASH_IN_ID" -H "Authorization: Bearer $PIXGATE_API_KEY"; echo`
}

/** The same on a page, with where the token is found. @param steps see {@link firstSteps} */
export function firstStepsSection(steps: string): Html {
  return html`<h2 id="first-steps">First steps</h2>
<p><code>PIXGATE_ADMIN_TOKEN</code> is what this sandbox was configured with. Where it was not, the token stands in
<code>sandbox-secrets.json</code> of its data directory, <code>.pixgate</code>, as <code>adminToken</code>; on a terminal it was
printed at the start, too.</p>
<pre><code>${steps}</code></pre>
`
}
