import { readConfig } from '../config.ts'
import { runDoctor } from './doctor.ts'

/** Examines what the server alone depends on, and ends with 0 where all is well, with 1 where it is not. */
process.exitCode = await runDoctor((environment, places) => {
  const { databaseUrl, ...config } = readConfig(environment, places)
  return { ...config, database: databaseUrl }
})
