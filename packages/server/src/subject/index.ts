export { exportOf, type Identifier, readIdentifier, type SubjectExport } from './export.ts'
