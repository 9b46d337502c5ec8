import { readConfig } from '../config.ts'
import { runDoctor } from './doctor.ts'

/** Examines the server's dependencies; exits with 0 without faults, otherwise with 1. */
process.exitCode = await runDoctor((environment, places) => {
  const { databaseUrl, ...config } = readConfig(environment, places)
  return { ...config, database: databaseUrl }
})
