import assert from 'node:assert/strict'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** Of a folder only the profiles have secrets, and only their owner can read them. @param given are files of the test */
export function assertKeptInProfile(folder: string, secrets: readonly string[], given: readonly string[] = []): void {
  const profiles = join(folder, 'config/pixgate/profiles.json')
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
  const telling = files.filter((path) => {
    const bytes = readFileSync(path)
    return !given.includes(path) && secrets.some((secret) => bytes.includes(secret))
  })
  assert.deepEqual(telling, [profiles])
  assert.equal(statSync(profiles).mode & 0o777, 0o600)
}
