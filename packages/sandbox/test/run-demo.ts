import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import type { TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { PROGRAM_ENVIRONMENT } from '../../server/test/support/program-environment.ts'

const DEMO = fileURLToPath(new URL('../../../examples/demo.ts', import.meta.url))

/** Runs the demo in an empty directory, so that it finds no other sandbox than the one of its environment. */
export async function runDemo(t: TestContext, environment: Record<string, string>, ...parameters: readonly string[]) {
  const directory = await mkdtemp(join(tmpdir(), 'pixgate-demo-test-'))
  t.after(() => rm(directory, { recursive: true }))
  const child = spawn(process.execPath, [DEMO, ...parameters], {
    env: { ...PROGRAM_ENVIRONMENT, PIXGATE_DATA_DIR: directory, ...environment },
    cwd: directory,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  t.after(() => child.kill())
  const [stdout, stderr, [exitCode]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')])
  return { exitCode, stdout, stderr }
}
