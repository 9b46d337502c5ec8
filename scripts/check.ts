import type { Check } from './check/check.ts'
import { dependencies } from './check/dependencies.ts'
import { failureModes } from './check/failure-modes.ts'
import { generated } from './check/generated.ts'
import { imports } from './check/imports.ts'
import { links } from './check/links.ts'
import { lint } from './check/lint.ts'
import { lockFile } from './check/lock-file.ts'
import { openapi } from './check/openapi.ts'
import { places } from './check/places.ts'
import { rules } from './check/rules.ts'
import { sdkSurface } from './check/sdk-surface.ts'
import { secrets } from './check/secrets.ts'
import { sizes } from './check/sizes.ts'
import { timeAndChance } from './check/time-and-chance.ts'
import { translations } from './check/translations.ts'
import { types } from './check/types.ts'
import { unused } from './check/unused.ts'

/**
 * `npm run check` runs all static checks and ends with 1 on any problem. `npm run check -- rules imports` runs only these.
 */
const checks: readonly Check[] = [
  types,
  lint,
  imports,
  unused,
  dependencies,
  lockFile,
  sizes,
  timeAndChance,
  places,
  secrets,
  rules,
  failureModes,
  links,
  translations,
  generated,
  sdkSurface,
  openapi,
]

const wanted = process.argv.slice(2)
const unknown = wanted.filter((word) => !checks.some(({ name }) => name === word))
if (unknown.length > 0) {
  console.error(`unknown check ${unknown.join(', ')}; known are ${checks.map(({ name }) => name).join(', ')}`)
  process.exit(2)
}

for (const { name, run } of checks.filter(({ name }) => wanted.length === 0 || wanted.includes(name))) {
  const startedAt = performance.now()
  const problems = await run().catch((error: unknown) => [String(error)])
  const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1)
  const verdict = problems.length === 0 ? '✔' : '✘'
  console.log(`${verdict} ${name.padEnd(16)} ${seconds.padStart(5)} s`)
  for (const problem of problems) console.log(`    ${problem}`)
  if (problems.length > 0) process.exitCode = 1
}
