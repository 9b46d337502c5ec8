import { GENERATED } from '../generate/document.ts'
import type { Check } from './check.ts'
import { readText, repositoryFiles } from './repository.ts'

/** Generated files are up to date, and none is left over. */
export const generated: Check = {
  name: 'generated',
  run: async () => {
    // Loaded lazily, because it loads the server: a fault there must not stop other checks.
    const { documents } = await import('../generate/documents.ts')
    const expected = new Map([...documents()].map(({ path, content }) => [path, content]))
    const leftOver = repositoryFiles(/^docs\/generated\//).filter(
      ({ path, text }) => !expected.has(path) && text.slice(0, 200).includes(GENERATED),
    )
    return [
      ...[...expected].flatMap(([path, content]) =>
        readText(path) === content ? [] : [`${path} is out of date; run npm run gen`],
      ),
      ...leftOver.map(({ path }) => `${path} is no longer generated; remove it`),
    ]
  },
}
