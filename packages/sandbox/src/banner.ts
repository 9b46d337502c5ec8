/** What a banner tells. */
export interface Announced {
  readonly url: string
  /** Where the operator's endpoints are answered, if not there. */
  readonly operatorUrl?: string | undefined
  readonly adminToken: string
  /** Whether the bank is the simulated one, at which anybody can pay. */
  readonly hasControls: boolean
}

/**
 * What a new user sees when the sandbox is up: where it is, the token that opens it, and what to try.
 * @source rules#sandbox.4, rules#operators.8
 */
export function banner(announced: Announced): string {
  const { hasControls } = announced
  const parts = hasControls
    ? [addresses(announced), tour(announced), SIMULATED, ...commands(announced, '150.00'), payment(announced)]
    : [addresses(announced), OTHER, ...commands(announced, '10.00')]
  return `\n${[...parts, reading(announced)].map((part) => `${part}\n\n`).join('')}`
}

const SIMULATED = '  Or step by step: make a key, create a charge, pay it at the simulated bank, read it'

/** At a bank's own sandbox it is paid as that bank has it. */
const OTHER = '  Make a key, create a charge, pay its pixCode as your bank has it, read it'

function addresses({ url, operatorUrl, adminToken }: Announced): string {
  return `  Pixgate is running (sandbox)

    API           ${url}${operatorUrl === undefined ? '' : `\n    Operators     ${operatorUrl}`}
    Admin token   ${adminToken}`
}

function tour({ url, operatorUrl, adminToken }: Announced): string {
  const operators = operatorUrl === undefined ? '' : `PIXGATE_OPERATOR_URL=${operatorUrl} `
  return `  See a payment go all the way: in another terminal, in the repository

    PIXGATE_URL=${url} ${operators}PIXGATE_ADMIN_TOKEN=${adminToken} npm run demo`
}

/** Makes a key, and a charge with it. @param value in reais */
function commands({ url, operatorUrl, adminToken }: Announced, value: string): readonly string[] {
  return [
    `    KEY=$(curl -s -X POST ${operatorUrl ?? url}/api-key/generate -H 'Authorization: Bearer ${adminToken}' | grep -o 'pix_test_[0-9A-Za-z]*'); echo $KEY`,
    `    ID=$(curl -s ${url}/api/pix/cash-in -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' \\
      -d '{"transaction":{"value":${value},"externalId":"order-'$(date +%s)'"}}' | grep -o '"id":"[^"]*' | cut -d'"' -f4); echo $ID`,
  ]
}

function payment({ url }: Announced): string {
  return `    curl -s -X POST ${url}/sandbox/cash-in/$ID/pay -H "Authorization: Bearer $KEY"; echo`
}

function reading({ url, hasControls }: Announced): string {
  return `    ${hasControls ? 'sleep 1; ' : ''}curl -s ${url}/api/pix/cash-in/$ID -H "Authorization: Bearer $KEY"; echo`
}
