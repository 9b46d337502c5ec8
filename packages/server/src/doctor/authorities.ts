import { readFileSync } from 'node:fs'
import { bad, type Finding, good } from '../platform/finding.ts'
import { fileErrorReason } from '../platform/secrets.ts'
import type { Environment } from '../platform/variables.ts'

/**
 * Whether the authorities are there that are trusted besides Node.js's own, where the environment names any: Node.js itself
 * only warns, and then trusts nobody's certificate of theirs.
 * @source rules#doctor.6
 */
export function examineAuthorities({ NODE_EXTRA_CA_CERTS: path }: Environment): Finding[] {
  if (!path) return []
  try {
    readFileSync(path)
    return [good('TLS', 'trusts the authorities in NODE_EXTRA_CA_CERTS, too')]
  } catch (error) {
    const reason = `${fileErrorReason(error)}; Node.js goes on without them`
    return [bad('TLS', `NODE_EXTRA_CA_CERTS names ${path}, which cannot be read: ${reason}`)]
  }
}
