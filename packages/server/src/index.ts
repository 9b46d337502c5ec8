/**
 * Exports for packages that compose the server, such as the sandbox. Configuration has its own entries
 * (`@pixgate/server/config`, `@pixgate/server/variables`), so that reading it does not load the server.
 */
export type { SandboxOperator } from './app.ts'
export { type Outcome, openPartnerLink, type PartnerCall, type PartnerLink } from './banks/link.ts'
export { type Examined, runDoctor } from './doctor/doctor.ts'
export type { AddEndpoints, KnownOperations } from './listeners.ts'
export { isMigrationUrlGiven, type MigrationConfig, migration, readMigrationConfig } from './migration.ts'
export { connectionProblem } from './platform/connection-problem.ts'
export { SchemaError, unreleasedDatabase } from './platform/db/migrate.ts'
export { bad, type Finding, good } from './platform/finding.ts'
export { type BoundEndpoint, bindEndpoints } from './platform/http/endpoint-route.ts'
export type { Handlers } from './platform/http/handler.ts'
export { urlOf } from './platform/http/server.ts'
export { isUuid } from './platform/ids.ts'
export { createLogger, type Logger } from './platform/log.ts'
export { freePort } from './platform/ports.ts'
export type { EncryptionKeys } from './platform/sealing.ts'
export { StartupError } from './platform/startup-error.ts'
export { type DatabaseLogin, migrateDatabase, prepareDatabase } from './prepare-database.ts'
export { type ProcessDependencies, type Program, readRole, runProcess, type ServingRole, type Stop } from './process.ts'
export { reserveAddress, type Serving, serve } from './start.ts'
