import type { SandboxOperator } from '@pixgate/server'

/** Content of the banner. */
export interface BannerContent {
  readonly url: string
  /** URL of the operator endpoints, if it differs from `url`. */
  readonly operatorUrl?: string | undefined
  readonly adminToken: string
  /** Whether the sandbox has controls, with which a charge can be paid at the simulated bank. */
  readonly hasControls: boolean
  /** Whether it runs in the repository, which has the demo. */
  readonly hasDemo: boolean
  /** Operators with codes that log them in to the console; empty where it is not served. */
  readonly people: readonly SandboxOperator[]
}

/**
 * Banner of a running sandbox: its URLs, the admin token and commands to try.
 * @source rules#sandbox.4, rules#operators.8
 */
export function banner(content: BannerContent): string {
  const { hasControls, hasDemo } = content
  const parts = hasControls
    ? [
        addresses(content),
        ...consoleLinks(content),
        ...(hasDemo ? [tour(content)] : []),
        SIMULATED,
        ...commands(content, '150.00'),
        payment(content),
      ]
    : [addresses(content), ...consoleLinks(content), OTHER, ...commands(content, '10.00')]
  return `\n${[...parts, reading(content)].map((part) => `${part}\n\n`).join('')}`
}

const SIMULATED = '  Step by step: create an API key, create a charge, pay it at the simulated bank, read it'

/** In another bank's sandbox, charges are paid with that bank's own tools. */
const OTHER = "  Create an API key, create a charge, pay its pixCode with your bank's own tools, read it"

function addresses({ url, operatorUrl, adminToken }: BannerContent): string {
  return `  Pixgate is running (sandbox)

    API           ${url}${operatorUrl === undefined ? '' : `\n    Operators     ${operatorUrl}`}
    Admin token   ${adminToken}`
}

/** The second link is for a private window: a person does not approve their own decision. @source rules#console.3 */
function consoleLinks({ url, operatorUrl, people }: BannerContent): readonly string[] {
  if (people.length === 0) return []
  const links = people.map(
    ({ name, role, link }) => `    ${`${name} (${role})`.padEnd(24)}${operatorUrl ?? url}/console#link=${link}`,
  )
  return [
    `  Open the console; each link works once, within five minutes. The second one in a private window\n\n${links.join('\n')}`,
  ]
}

function tour({ url, operatorUrl, adminToken }: BannerContent): string {
  const operators = operatorUrl === undefined ? '' : `PIXGATE_OPERATOR_URL=${operatorUrl} `
  return `  Watch a complete payment: in another terminal, in the repository

    PIXGATE_URL=${url} ${operators}PIXGATE_ADMIN_TOKEN=${adminToken} npm run demo`
}

/** Commands that create an API key and a charge. @param value in reais */
function commands({ url, operatorUrl, adminToken }: BannerContent, value: string): readonly string[] {
  return [
    `    KEY=$(curl -s -X POST ${operatorUrl ?? url}/api-key/generate -H 'Authorization: Bearer ${adminToken}' | grep -o 'pix_test_[0-9A-Za-z]*'); echo $KEY`,
    `    ID=$(curl -s ${url}/api/pix/cash-in -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' \\
      -d '{"transaction":{"value":${value},"externalId":"order-'$(date +%s)'"}}' | grep -o '"id":"[^"]*' | cut -d'"' -f4); echo $ID`,
  ]
}

function payment({ url }: BannerContent): string {
  return `    curl -s -X POST ${url}/sandbox/cash-in/$ID/pay -H "Authorization: Bearer $KEY"; echo`
}

function reading({ url, hasControls }: BannerContent): string {
  return `    ${hasControls ? 'sleep 1; ' : ''}curl -s ${url}/api/pix/cash-in/$ID -H "Authorization: Bearer $KEY"; echo`
}
