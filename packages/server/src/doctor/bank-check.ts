import { parseArgs } from 'node:util'
import { chosenConnector, isProduction, serviceVariables } from '../config.ts'
import { createDatabaseClock } from '../platform/clock.ts'
import { reportOf } from '../platform/finding.ts'
import { createIds, ownOrderId } from '../platform/ids.ts'
import { type Environment, readVariables } from '../platform/variables.ts'
import { readEnvironment } from '../process.ts'
import { examineBank } from './bank.ts'

/**
 * The program `bank-check`: goes the way to the configured bank step by step, a line for each, with the reason where it fails.
 * It needs no database, and nothing of the service but what the bank is reached with. In the bank's sandbox it makes a charge
 * and withdraws it; `--register` tells the bank where to call.
 * @returns the exit status: 0 where all is well, 1 where anything is not, 2 where it could not look
 * @source rules#api-pix.13
 */
export async function checkBank(parameters: readonly string[], usage: string): Promise<number> {
  try {
    const { register } = parseArgs({ args: [...parameters], options: { register: { type: 'boolean' } } }).values
    const clock = createDatabaseClock()
    const newId = () => ownOrderId(createIds(clock).uuid())
    const findings = await examineBank(configuredBank(readEnvironment().environment), clock, {
      registers: register ?? false,
      newId,
    })
    process.stdout.write(`${reportOf(findings)}\n`)
    return findings.every(({ isOk }) => isOk) ? 0 : 1
  } catch (error) {
    console.error(`bank-check: ${(error as Error).message}\nUsage: ${usage} [--register]`)
    return 2
  }
}

/** Of the variables of the bank alone. @throws ConfigError */
function configuredBank(environment: Environment) {
  const { variables, faults, configure } = chosenConnector(environment)
  const { PIXGATE_BANK } = serviceVariables
  return configure(
    readVariables({ ...variables, PIXGATE_BANK }, environment, {
      isProduction: isProduction(environment),
      otherFaults: faults(environment),
    }),
  )
}
