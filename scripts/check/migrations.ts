import { createHash } from 'node:crypto'
import { basename } from 'node:path'
import type { Check } from './check.ts'
import { readText, repositoryFiles } from './repository.ts'

/** Where the hash of every migration is recorded, by its name; `npm run gen` adds those that are new. */
export const MIGRATION_HASHES = 'scripts/check/migrations.json'

/** SHA-256 by the name of a migration. */
export type Hashes = Readonly<Record<string, string>>

/** A migration. */
export interface MigrationFile {
  readonly name: string
  readonly text: string
}

/** All migrations, in order. */
export function migrationFiles(): MigrationFile[] {
  const files = repositoryFiles(/^packages\/server\/migrations\/.*\.sql$/)
  return files.map(({ path, text }) => ({ name: basename(path), text }))
}

/** What was recorded. */
export function recordedHashes(): Hashes {
  return JSON.parse(readText(MIGRATION_HASHES) ?? '{}')
}

/** SHA-256 in hexadecimal digits. */
export function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

/** A database that has a migration refuses every version of Pixgate that has another one under its name. */
export function migrationProblems(files: readonly MigrationFile[], recorded: Hashes): string[] {
  const texts = new Map(files.map(({ name, text }) => [name, text]))
  return [
    ...files.flatMap(({ name }) => (recorded[name] === undefined ? [`${name} is not recorded; run npm run gen`] : [])),
    ...Object.entries(recorded).flatMap(([name, hash]) => {
      const text = texts.get(name)
      if (text === undefined) return [`${name} was removed: databases have it`]
      return sha256(text) === hash ? [] : [`${name} was edited: restore it, and add a new migration`]
    }),
  ]
}

/** The check over the migrations. One that was never committed is recorded anew when its line is removed. */
export const migrations: Check = {
  name: 'migrations',
  run: async () => migrationProblems(migrationFiles(), recordedHashes()),
}
