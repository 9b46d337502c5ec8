import type { Check } from './check.ts'
import { readText, repositoryFiles } from './repository.ts'

const WHERE = 'docs/adr/0003-dependencies.md'

/**
 * Dependencies without a row that says why they are there, and those whose version is not exact.
 * @param manifests the texts of all `package.json`
 * @param reasons the page of reasons: a row begins with the package in backquotes, or with several
 */
export function dependencyProblems(manifests: readonly string[], reasons: string): string[] {
  const explained = new Set(reasons.split('\n').flatMap(packagesOf))
  const used = manifests
    .map((text) => JSON.parse(text) as Record<string, Readonly<Record<string, string>> | undefined>)
    .flatMap(({ dependencies, devDependencies, optionalDependencies }) =>
      Object.entries({ ...dependencies, ...devDependencies, ...optionalDependencies }),
    )
    .filter(([name]) => !name.startsWith('@pixgate/'))
  return [...new Map(used)].flatMap(([name, version]) => [
    ...(explained.has(name) ? [] : [`${name} has no row in ${WHERE}`]),
    ...(/^\d/.test(version) ? [] : [`${name}: ${version} is not one version`]),
  ])
}

/** Those that a row of the table is about; what was not taken has a table of two columns. */
function packagesOf(line: string): string[] {
  const [packages = '', ...rest] = line.split(' | ')
  return rest.length === 2 ? [...packages.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name) : []
}

/** The check over every package of the repository. */
export const dependencies: Check = {
  name: 'dependencies',
  run: async () =>
    dependencyProblems(
      repositoryFiles(/^(?:packages\/[^/]+\/)?package\.json$/).map(({ text }) => text),
      readText(WHERE) ?? '',
    ),
}
