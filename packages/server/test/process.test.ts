import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { createInterface } from 'node:readline'
import test from 'node:test'
import { fileURLToPath } from 'node:url'

const PROGRAM = fileURLToPath(new URL('support/lingering-main.ts', import.meta.url))

/** Runs the program to its end, which a signal asks for once it is ready. */
async function run(role: string): Promise<{ ended: unknown[]; sentences: string[] }> {
  const child = spawn(process.execPath, [PROGRAM, role], { cwd: tmpdir(), stdio: ['ignore', 'pipe', 'ignore'] })
  const ended = once(child, 'close')
  const sentences: string[] = []
  for await (const line of createInterface(child.stdout)) {
    const { msg, error, reason } = JSON.parse(line)
    sentences.push([msg, error ?? reason].filter(Boolean).join(': '))
    if (msg === 'ready') child.kill('SIGTERM')
  }
  return { ended: await ended, sentences }
}

const STOPS = ['a part of the shutdown failed: Error: it sticks', 'the first was stopped']

test('[health.3] a process ends when all was stopped, whatever is left open, and one stop that fails keeps no other from it', async () => {
  assert.deepEqual(await run('all'), { ended: [0, null], sentences: ['ready', 'stopping on signal', ...STOPS] })
})

test('[health.3] [logs.3] so does a start that was refused, with the one reason that it has', async () => {
  assert.deepEqual(await run('api'), { ended: [1, null], sentences: ['the start was refused: not today', ...STOPS] })
})
