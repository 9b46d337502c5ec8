/** What a banner tells. */
export interface Announced {
  readonly url: string
  /** Where the operator's endpoints are answered, if not there. */
  readonly operatorUrl?: string | undefined
  readonly adminToken: string
}

/**
 * What a new user sees when the sandbox is up: where it is, the token that opens it, and what to try.
 * @source rules#sandbox.4, rules#operators.8
 */
export function banner({ url, operatorUrl, adminToken }: Announced): string {
  const isApart = operatorUrl !== undefined
  return `
  Pixgate is running (sandbox)

    API           ${url}${isApart ? `\n    Operators     ${operatorUrl}` : ''}
    Admin token   ${adminToken}

  See a payment go all the way: in another terminal, in the repository

    PIXGATE_URL=${url} ${isApart ? `PIXGATE_OPERATOR_URL=${operatorUrl} ` : ''}PIXGATE_ADMIN_TOKEN=${adminToken} npm run demo

  Or step by step: make a key, create a charge, pay it at the simulated bank, read it

    KEY=$(curl -s -X POST ${operatorUrl ?? url}/api-key/generate -H 'Authorization: Bearer ${adminToken}' | grep -o 'pix_test_[0-9A-Za-z]*'); echo $KEY

    ID=$(curl -s ${url}/api/pix/cash-in -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' \\
      -d '{"transaction":{"value":150.00,"externalId":"order-'$(date +%s)'"}}' | grep -o '"id":"[^"]*' | cut -d'"' -f4); echo $ID

    curl -s -X POST ${url}/sandbox/cash-in/$ID/pay -H "Authorization: Bearer $KEY"; echo

    sleep 1; curl -s ${url}/api/pix/cash-in/$ID -H "Authorization: Bearer $KEY"; echo

`
}
