import { resolve } from 'node:path'
import {
  type ConfiguredBank,
  chosenConnector,
  environmentFaults,
  isProduction,
  migrationUrlFaults,
  pixgate,
  type ServiceValues,
  type SettingPlaces,
  serviceVariables,
} from '@pixgate/server/config'
import { type Environment, integer, readVariables, text, type Values, variables } from '@pixgate/server/variables'

/** The sandbox's own variables. */
export const sandboxVariables = variables({
  PIXGATE_DATA_DIR: {
    shape: text(4_096),
    default: '.pixgate',
    description: "Where the sandbox keeps its database, its bank's book and its secrets.",
  },
  PIXGATE_SIMULATOR_PORT: {
    shape: integer(0, 65_535),
    description: 'Port of the simulated bank; 0 takes any free one. Unset: 8081, or the next one that is free.',
  },
})

/** What a server reads whose bank may be the simulated one. */
export const serverVariables = { ...serviceVariables, ...pixgate.variables }

/** What the server requires and the sandbox makes where it is not set. */
const MADE_FOR_SERVICE = ['DATABASE_URL', 'PIXGATE_ADMIN_TOKEN', 'PIXGATE_ENCRYPTION_KEY'] as const

/** The same, of the simulated bank. */
const MADE_FOR_BANK = ['PIXGATE_PARTNER_URL', 'PIXGATE_PARTNER_TOKEN', 'PIXGATE_PARTNER_SECRET'] as const

/** Everything that the sandbox makes where it is not set. */
export const MADE = [...MADE_FOR_SERVICE, ...MADE_FOR_BANK] as const

/** What was read, some of which may not be set. */
type Given<Read, Made extends keyof Read> = Omit<Read, Made> & Partial<Pick<Read, Made>>

/** The variables of a bank of our own protocol, as the simulated one is; what is not set is still to be made. */
export type PartnerGiven = Given<Values<typeof pixgate.variables>, (typeof MADE_FOR_BANK)[number]>

/** The configuration of a sandbox. */
export interface SandboxConfig {
  /** The service's variables; what is not set is still to be made. */
  readonly given: Given<ServiceValues, (typeof MADE_FOR_SERVICE)[number]>
  /** One of our own protocol, or the other one that was chosen. */
  readonly bank: { readonly partner: PartnerGiven } | { readonly other: ConfiguredBank }
  /** Absolute. */
  readonly dataDirectory: string
  /** `undefined`: 8081 or the next free one. */
  readonly simulatorPort: number | undefined
}

/**
 * Reads it. In production all that the server requires must be set, and of another bank than the simulated one anywhere.
 * @param places of what a file sets
 * @throws ConfigError every fault at once, each naming its variable
 * @source rules#config.2, rules#config.3, rules#config.5
 */
export function readSandboxConfig(environment: Environment, places: SettingPlaces = new Map()): SandboxConfig {
  const chosen = chosenConnector(environment)
  const table = { ...serviceVariables, ...chosen.variables, ...sandboxVariables }
  const options = {
    isProduction: isProduction(environment),
    otherFaults: [
      ...environmentFaults({ environment, places }, table),
      ...migrationUrlFaults(environment),
      ...chosen.faults(environment),
    ],
  }
  const others = ({ PIXGATE_DATA_DIR, PIXGATE_SIMULATOR_PORT }: Values<typeof sandboxVariables>) => ({
    dataDirectory: resolve(PIXGATE_DATA_DIR),
    simulatorPort: PIXGATE_SIMULATOR_PORT,
  })
  if (chosen !== pixgate) {
    const values = readVariables(table, environment, { ...options, supplied: MADE_FOR_SERVICE })
    return { given: values, bank: { other: chosen.configure(values) }, ...others(values) }
  }
  const values = readVariables({ ...serverVariables, ...sandboxVariables }, environment, { ...options, supplied: MADE })
  return { given: values, bank: { partner: values }, ...others(values) }
}
