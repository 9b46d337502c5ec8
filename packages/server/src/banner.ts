/**
 * What a new user sees when the sandbox is up: where it is, the token that opens it, and what to try.
 * @source rules#sandbox.4
 */
export function banner({ url, adminToken }: { readonly url: string; readonly adminToken: string }): string {
  return `
  Pixgate is running (sandbox)

    API           ${url}
    Admin token   ${adminToken}

  Try it: make a key, create a charge, let the simulated bank report its payment

    KEY=$(curl -s -X POST ${url}/api-key/generate -H 'Authorization: Bearer ${adminToken}' | grep -o 'pix_test_[0-9A-Za-z]*')

    ID=$(curl -s ${url}/api/pix/cash-in -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' \\
      -d "{\\"transaction\\":{\\"value\\":150.00,\\"externalId\\":\\"order-$(date +%s)\\"}}" | tee /dev/stderr | grep -o '"id":"[^"]*' | cut -d'"' -f4)

    curl -s -X POST ${url}/sandbox/cash-in/$ID/pay -H "Authorization: Bearer $KEY" && sleep 1 && \\
      curl -s ${url}/api/pix/cash-in/$ID -H "Authorization: Bearer $KEY"

`
}
