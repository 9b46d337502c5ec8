import { readFileSync } from 'node:fs'
import { getSystemErrorMessage } from 'node:util'
import type { Environment, Variables } from './variable-table.ts'

/** The variable that names the file of a secret. */
export function fileVariable(secretName: string): string {
  return `${secretName}_FILE`
}

/** The environment with the secrets that stand in files. */
export interface WithSecretFiles {
  readonly environment: Environment
  /** By the secret's name, why it cannot be had. */
  readonly faults: ReadonlyMap<string, string>
}

/**
 * Reads the secrets whose files are named: `<NAME>_FILE` for every secret `<NAME>` of a table. Line breaks at the end do
 * not count. A fault repeats the path and nothing of the file.
 * @source rules#config.8
 */
export function withSecretFiles(table: Variables, environment: Environment): WithSecretFiles {
  const values: Record<string, string> = {}
  const faults = new Map<string, string>()
  for (const name of Object.keys(table).filter((candidate) => table[candidate]?.secret)) {
    const variable = fileVariable(name)
    const path = environment[variable]
    if (!path) continue
    if (environment[name]) faults.set(name, `${name} and ${variable} are both set; set one of them`)
    else {
      const secret = readSecret(path)
      if ('fault' in secret) faults.set(name, `${variable} names ${path}, which ${secret.fault}`)
      else values[name] = secret.value
    }
  }
  return { environment: { ...environment, ...values }, faults }
}

function readSecret(path: string): { readonly value: string } | { readonly fault: string } {
  try {
    const value = readFileSync(path, 'utf8').replace(/[\r\n]+$/, '')
    return value === '' ? { fault: 'is empty' } : { value }
  } catch (error) {
    return { fault: `cannot be read: ${fileErrorReason(error)}` }
  }
}

/** Why a file could not be read, in the system's words: `permission denied`. */
export function fileErrorReason(error: unknown): string {
  const { errno, code } = error as NodeJS.ErrnoException
  return errno === undefined ? (code ?? String(error)) : getSystemErrorMessage(errno)
}
