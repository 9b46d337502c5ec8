import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import type { Surroundings } from '../../src/command.ts'
import { commands } from '../../src/index.ts'
import { run } from '../../src/run.ts'

export interface Ran {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** A folder of its own, which is gone with the test. */
export function folderOf(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'pixgate-cli-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Runs command lines in this process, with an environment of their own. */
export function shell(folder: string, env: Readonly<Record<string, string>>) {
  return async (line: string | readonly string[], more: Partial<Surroundings> = {}): Promise<Ran> => {
    const { args, input } = typeof line === 'string' ? split(line) : { args: line, input: undefined }
    const [stdout, stderr]: [string[], string[]] = [[], []]
    const code = await run(commands, args, {
      env: { XDG_CONFIG_HOME: join(folder, 'config'), ...env },
      directory: folder,
      isTerminal: false,
      signal: new AbortController().signal,
      write: (text) => void stdout.push(text),
      warn: (text) => void stderr.push(text),
      read: async () => (input === undefined ? Buffer.alloc(0) : readFileSync(input)),
      ...more,
    })
    return { code, stdout: stdout.join(''), stderr: stderr.join('') }
  }
}

/** `pixgate charge get ID --json < file`, with double quotes as a shell reads them. */
function split(line: string): { readonly args: readonly string[]; readonly input: string | undefined } {
  const [words = '', input] = line.split(' < ')
  const args = [...words.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '')
  assert.equal(args.shift(), 'pixgate')
  return { args, input }
}

/** The document, or the lines, of `--json`. */
// biome-ignore lint/suspicious/noExplicitAny: a test knows what it asked for.
export function json(text: string): any {
  try {
    return JSON.parse(text)
  } catch {
    return text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
  }
}
