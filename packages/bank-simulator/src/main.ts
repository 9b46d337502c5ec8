#!/usr/bin/env node
import './node-version.ts'
import { type SimulatorOptions, startSimulator } from './index.ts'

/**
 * The simulated bank as a process. When it is ready it says so in one line of JSON on standard output:
 * `{"ready":true,"port":8081}`. It ends on SIGTERM and SIGINT, and, where PIXGATE_SIMULATOR_EXIT_WITH_PARENT is 1, when
 * its standard input closes: whoever started it is gone.
 */
async function main(): Promise<void> {
  const simulator = await startSimulator(readOptions(process.env))
  let stopping = false
  async function stop(): Promise<void> {
    if (stopping) return
    stopping = true
    await simulator.stop()
    process.exit(0)
  }
  process.on('SIGTERM', stop)
  process.on('SIGINT', stop)
  if (process.env.PIXGATE_SIMULATOR_EXIT_WITH_PARENT === '1') process.stdin.resume().on('close', stop)
  process.stdout.write(`${JSON.stringify({ ready: true, port: simulator.port })}\n`)
}

function readOptions(environment: NodeJS.ProcessEnv): SimulatorOptions {
  function required(name: string): string {
    const value = environment[name]
    if (!value) throw new Error(`${name} is not set`)
    return value
  }
  return {
    port: readPort(environment.PIXGATE_SIMULATOR_PORT || '8081'),
    dataDirectory: required('PIXGATE_SIMULATOR_DATA_DIR'),
    token: required('PIXGATE_PARTNER_TOKEN'),
    secret: required('PIXGATE_PARTNER_SECRET'),
    eventsUrl: required('PIXGATE_SIMULATOR_EVENTS_URL'),
    hasIdempotentOrders: environment.PIXGATE_PARTNER_IDEMPOTENT_ORDERS !== 'false',
  }
}

function readPort(text: string): number {
  const port = Number(text)
  if (!/^\d+$/.test(text) || port > 65_535) throw new Error('PIXGATE_SIMULATOR_PORT is not a port')
  return port
}

await main().catch((error: Error) => {
  process.stderr.write(`bank-simulator: ${error.message}\n`)
  process.exit(1)
})
