import type { Check } from './check.ts'
import { repositoryPaths } from './repository.ts'

/** Names that say where something was put instead of what it is. */
const VAGUE = /(?:^|-)(?:utils?|helpers?|common|managers?|misc|services?)(?:-|\.|$)/

const KEBAB_CASE = /^\.?[a-z0-9]+(?:-[a-z0-9]+)*(?:\.[a-z0-9]+)*$/

/** What editors, patches and merges leave behind. */
const LEFT_BEHIND = /(?:\.(?:orig|rej|bak|swp|tmp)|~)$/

/** Paths of code with a folder or file that is not in kebab-case or has a vague name, and what was left behind. */
export function fileNameProblems(paths: readonly string[]): string[] {
  return paths.flatMap((path) =>
    path.split('/').flatMap((name) => {
      if (LEFT_BEHIND.test(name)) return [`${path}: was left behind`]
      if (VAGUE.test(name)) return [`${path}: «${name}» does not say what it is`]
      return KEBAB_CASE.test(name) ? [] : [`${path}: «${name}» is not in kebab-case`]
    }),
  )
}

/** The check over everything that is code. */
export const fileNames: Check = {
  name: 'file names',
  run: async () =>
    fileNameProblems(
      repositoryPaths().filter(
        (path) => LEFT_BEHIND.test(path) || /^(?:packages|scripts|examples|bench)\/.*\.(?:tsx?|sql)$/.test(path),
      ),
    ),
}
