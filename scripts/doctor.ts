import { existsSync } from 'node:fs'

/**
 * `npm run doctor`: examines what is configured and what the service depends on, a line for each check. Ends with 0 where
 * all is well, with 1 where it is not. Where only the server is installed, the server's; elsewhere the sandbox's, which
 * looks at what the sandbox brings besides.
 * @source rules#doctor.1
 */
const isSandboxInstalled = existsSync(new URL('../node_modules/@pixgate/sandbox', import.meta.url))

await import(`../packages/${isSandboxInstalled ? 'sandbox/src/doctor.ts' : 'server/src/doctor/main.ts'}`)
