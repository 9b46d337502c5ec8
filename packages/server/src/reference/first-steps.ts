/**
 * From nothing to a charge that is paid, for a shell: the variables that it sets are those of the other commands.
 * @param url of a sandbox
 * @param adminToken as the sandbox printed it when it started
 * @source rules#reference.5
 */
export function firstSteps(url: string, adminToken: string): string {
  return `PIXGATE_URL=${url}
PIXGATE_ADMIN_TOKEN=${adminToken}

# An API key: shown this once
PIXGATE_API_KEY=$(curl -sS -X POST "$PIXGATE_URL/api-key/generate" -H "Authorization: Bearer $PIXGATE_ADMIN_TOKEN" \\
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
