import { resolve } from 'node:path'
import {
  environmentFaults,
  isProduction,
  migrationUrlFaults,
  pixgate,
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

/** What {@link serverVariables} were read as. */
type ServerValues = Values<typeof serverVariables>

/** What the server requires and the sandbox makes where it is not set. */
const MADE = [
  'DATABASE_URL',
  'PIXGATE_ADMIN_TOKEN',
  'PIXGATE_ENCRYPTION_KEY',
  'PIXGATE_PARTNER_URL',
  'PIXGATE_PARTNER_TOKEN',
  'PIXGATE_PARTNER_SECRET',
] as const satisfies readonly (keyof ServerValues)[]

type Made = (typeof MADE)[number]

/** The configuration of a sandbox. */
export interface SandboxConfig {
  /** The server's variables; what is not set is still to be made. */
  readonly given: Omit<ServerValues, Made> & Partial<Pick<ServerValues, Made>>
  /** Absolute. */
  readonly dataDirectory: string
  /** `undefined`: 8081 or the next free one. */
  readonly simulatorPort: number | undefined
}

/**
 * Reads it. In production all that the server requires must be set.
 * @param places of what a file sets
 * @throws ConfigError every fault at once, each naming its variable
 * @source rules#config.2, rules#config.3
 */
export function readSandboxConfig(environment: Environment, places: SettingPlaces = new Map()): SandboxConfig {
  const table = { ...serverVariables, ...sandboxVariables }
  const { PIXGATE_DATA_DIR, PIXGATE_SIMULATOR_PORT, ...given } = readVariables(table, environment, {
    isProduction: isProduction(environment),
    supplied: MADE,
    otherFaults: [
      ...environmentFaults({ environment, places }, table),
      ...migrationUrlFaults(environment),
      ...pixgate.faults(environment),
    ],
  })
  return { given, dataDirectory: resolve(PIXGATE_DATA_DIR), simulatorPort: PIXGATE_SIMULATOR_PORT }
}
