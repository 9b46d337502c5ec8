#!/usr/bin/env node
import './node-version.ts'
import process from 'node:process'
import { buffer } from 'node:stream/consumers'
import { commands } from './index.ts'
import { run } from './run.ts'

const stopping = new AbortController()
for (const name of ['SIGINT', 'SIGTERM'] as const) {
  process.on(name, () => {
    // The second one ends what does not listen.
    if (stopping.signal.aborted) process.exit(130)
    stopping.abort()
  })
}
// `pixgate ledger | head` closes the pipe.
process.stdout.on('error', () => process.exit(0))

process.exitCode = await run(commands, process.argv.slice(2), {
  env: process.env,
  directory: process.cwd(),
  isTerminal: process.stdout.isTTY,
  signal: stopping.signal,
  write: (text) => void process.stdout.write(text),
  warn: (text) => void process.stderr.write(text),
  read: () => buffer(process.stdin),
})
