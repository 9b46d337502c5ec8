import { existsSync, readFileSync } from 'node:fs'

/** Beside the sources, and where they were compiled. */
const [MANIFEST] = ['./package.json', '../package.json']
  .map((place) => new URL(place, import.meta.url))
  .filter((place) => existsSync(place))

/** Version of this package. */
export function version(): string {
  return MANIFEST === undefined ? 'unknown' : JSON.parse(readFileSync(MANIFEST, 'utf8')).version
}
