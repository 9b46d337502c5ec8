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

/** Variables of a server whose bank may be the simulated one. */
export const serverVariables = { ...serviceVariables, ...pixgate.variables }

/** Required variables of the server that the sandbox generates if they are not set. */
const GENERATED_FOR_SERVICE = ['DATABASE_URL', 'PIXGATE_ADMIN_TOKEN', 'PIXGATE_ENCRYPTION_KEY'] as const

/** The same for the simulated bank. */
const GENERATED_FOR_BANK = ['PIXGATE_PARTNER_URL', 'PIXGATE_PARTNER_TOKEN', 'PIXGATE_PARTNER_SECRET'] as const

/** All variables that the sandbox generates if they are not set. */
export const GENERATED = [...GENERATED_FOR_SERVICE, ...GENERATED_FOR_BANK] as const

/** Variables as read; those that the sandbox generates may be unset. */
type Given<Read, Made extends keyof Read> = Omit<Read, Made> & Partial<Pick<Read, Made>>

/** Variables of a bank with the partner protocol, such as the simulated one. Unset ones are generated later. */
export type PartnerGiven = Given<Values<typeof pixgate.variables>, (typeof GENERATED_FOR_BANK)[number]>

/** The configuration of a sandbox. */
export interface SandboxConfig {
  /** The service's variables. Unset ones are generated later. */
  readonly given: Given<ServiceValues, (typeof GENERATED_FOR_SERVICE)[number]>
  /** A bank with the partner protocol, or the other bank that `PIXGATE_BANK` chooses. */
  readonly bank: { readonly partner: PartnerGiven } | { readonly other: ConfiguredBank }
  /** Absolute path. */
  readonly dataDirectory: string
  /** `undefined`: 8081 or the next free port. */
  readonly simulatorPort: number | undefined
}

/**
 * Reads the configuration. In production, all variables that the server requires must be set. The variables of a bank
 * other than the simulated one must always be set.
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
    const values = readVariables(table, environment, { ...options, supplied: GENERATED_FOR_SERVICE })
    return { given: values, bank: { other: chosen.configure(values) }, ...others(values) }
  }
  const values = readVariables({ ...serverVariables, ...sandboxVariables }, environment, {
    ...options,
    supplied: GENERATED,
  })
  return { given: values, bank: { partner: values }, ...others(values) }
}
