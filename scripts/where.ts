import { FAILURE_MODES, failureModeCitationsIn, failureModeProofsIn, failureModesIn } from './check/failure-modes.ts'
import { readText, repositoryFiles } from './check/repository.ts'
import {
  type Citation,
  CODE,
  citationsIn,
  proofsIn,
  RULES,
  rulesIn,
  rulesOf,
  specMachines,
  TESTS,
} from './check/rules.ts'

/**
 * `npm run where -- word` lists the rules and failure modes that contain a word, with their code and tests.
 */
const word = process.argv.slice(2).join(' ').toLowerCase()
const rules = [...rulesIn(readText(RULES) ?? ''), ...rulesOf(specMachines)]
const failureModes = failureModesIn(readText(FAILURE_MODES) ?? '').map(({ id, text }) => ({ anchor: id, text }))
const found = [...rules, ...failureModes].filter(({ anchor, text }) => `${anchor} ${text}`.toLowerCase().includes(word))
const code = repositoryFiles(CODE)
const tests = repositoryFiles(TESTS)
const citations = [...citationsIn(code), ...failureModeCitationsIn(code)]
const proofs = [...proofsIn(tests, specMachines), ...failureModeProofsIn(tests)]

for (const { anchor, text } of found) {
  console.log(`[${anchor}] ${text}`)
  for (const place of placesOf(anchor, citations)) console.log(`    code  ${place}`)
  for (const place of placesOf(anchor, proofs)) console.log(`    test  ${place}`)
}
if (found.length === 0) {
  console.error(word === '' ? 'Usage: npm run where -- <word>' : `No rule contains «${word}».`)
  process.exitCode = 1
}

function placesOf(anchor: string, found: readonly Citation[]): Set<string> {
  return new Set(found.filter((it) => it.anchor === anchor).map(({ path, line }) => `${path}:${line}`))
}
