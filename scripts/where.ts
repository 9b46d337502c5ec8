import { readText, repositoryFiles } from './check/repository.ts'
import { type Citation, CODE, citationsIn, proofsIn, RULES, rulesIn, specMachines, TESTS } from './check/rules.ts'

/** `npm run where -- word`: the rules that speak of a word, the code that follows them, the tests that prove them. */
const word = process.argv.slice(2).join(' ').toLowerCase()
const rules = rulesIn(readText(RULES) ?? '').filter(({ anchor, text }) =>
  `${anchor} ${text}`.toLowerCase().includes(word),
)
const citations = citationsIn(repositoryFiles(CODE))
const proofs = proofsIn(repositoryFiles(TESTS), specMachines)

for (const { anchor, text } of rules) {
  console.log(`[${anchor}] ${text}`)
  for (const place of placesOf(anchor, citations)) console.log(`    code  ${place}`)
  for (const place of placesOf(anchor, proofs)) console.log(`    test  ${place}`)
}
if (rules.length === 0) {
  console.error(word === '' ? 'Usage: npm run where -- <word>' : `No rule speaks of «${word}».`)
  process.exitCode = 1
}

function placesOf(anchor: string, found: readonly Citation[]): Set<string> {
  return new Set(found.filter((it) => it.anchor === anchor).map(({ path, line }) => `${path}:${line}`))
}
