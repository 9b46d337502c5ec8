export { exportOf, type SubjectExport } from './export.ts'
export { type Identifier, readIdentifier } from './identifier.ts'
