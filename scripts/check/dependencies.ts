import type { Check } from './check.ts'
import { readText, repositoryFiles } from './repository.ts'

const WHERE = 'docs/adr/0003-dependencies.md'

/**
 * Dependencies without a reason in {@link WHERE}, and those without an exact version.
 * @param manifests texts of all `package.json`
 * @param reasons the page of reasons: a row begins with one or more packages in backquotes
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

/** Packages of a row with three columns; rejected packages have a table with two. */
function packagesOf(line: string): string[] {
  const [packages = '', ...rest] = line.split(' | ')
  return rest.length === 2 ? [...packages.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name) : []
}

export const dependencies: Check = {
  name: 'dependencies',
  run: async () =>
    dependencyProblems(
      repositoryFiles(/^(?:packages\/[^/]+\/)?package\.json$/).map(({ text }) => text),
      readText(WHERE) ?? '',
    ),
}
