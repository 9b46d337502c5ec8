import { MIGRATION_HASHES, migrationFiles, recordedHashes, sha256 } from '../check/migrations.ts'
import { type GeneratedDocument, json } from './document.ts'

/** The hash of every migration. What is recorded stays as it is: the check tells of one that was edited since. */
export function migrationHashes(): GeneratedDocument {
  const recorded = recordedHashes()
  const names = migrationFiles().map(({ name, text }) => [name, recorded[name] ?? sha256(text)] as const)
  return json(MIGRATION_HASHES, Object.fromEntries(names))
}
