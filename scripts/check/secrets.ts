import { apiKeyFormat, operatorTokenFormat } from '../../packages/server/src/access/credentials.ts'
import type { Check } from './check.ts'
import { repositoryFiles, type SourceFile } from './repository.ts'

/** Test vectors: keys of known bytes. */
const VECTORS = 'packages/server/test/access/key.test.ts'

/** Our keys and tokens have a valid checksum; examples in documents have an invalid one. */
const OWN = /\bpix_(?:op_)?(?:test|live)_[0-9A-Za-z]{49}(?![0-9A-Za-z])/g

/** Secrets of other services, by their published prefixes. */
const FOREIGN: readonly (readonly [what: string, pattern: RegExp])[] = [
  ['a private key', /-----BEGIN (?:[A-Z]+ ){0,2}PRIVATE KEY-----\s*[A-Za-z0-9+/=]{16}/],
  ['a token of GitHub', /\b(?:gh[pousr]_[0-9A-Za-z]{36}|github_pat_[0-9A-Za-z_]{22,})/],
  ['a token of npm', /\bnpm_[0-9A-Za-z]{36}\b/],
  ['a key of AWS', /\b(?:AKIA|ASIA)[0-9A-Z]{16}\b/],
  ['a token of Slack', /\bxox[abeoprs]-[0-9A-Za-z-]{10,}/],
  ['a JSON Web Token', /\beyJ[0-9A-Za-z_-]{10,}\.eyJ[0-9A-Za-z_-]{10,}\.[0-9A-Za-z_-]{10,}/],
]

/** Lines with a secret. The secret itself is not repeated. */
export function secretProblems(files: readonly SourceFile[]): string[] {
  return files.flatMap((file) => {
    const own = file.path === VECTORS ? [] : [...file.text.matchAll(OWN)].filter(([text]) => isOwn(text))
    const foreign = FOREIGN.flatMap(([what, pattern]) => {
      const found = pattern.exec(file.text)
      return found ? [[what, found.index] as const] : []
    })
    const all = [...own.map(({ index }) => ['an API key or an operator’s token', index] as const), ...foreign]
    return all.map(([what, index]) => `${file.path}:${file.text.slice(0, index).split('\n').length} has ${what}`)
  })
}

function isOwn(text: string): boolean {
  return (apiKeyFormat.modeOf(text) ?? operatorTokenFormat.modeOf(text)) !== undefined
}

/** Checks every file: a secret that was committed once is public. */
export const secrets: Check = {
  name: 'secrets',
  run: async () => secretProblems(repositoryFiles(/^/)),
}
