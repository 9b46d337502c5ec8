import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { getCompileCacheDir } from 'node:module'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { freePort, type Logger } from '@pixgate/server'

/** The simulated bank of a sandbox, in its own process. */
export interface Simulator {
  readonly url: string
  stop(): Promise<void>
}

/** Options of {@link startSimulator}. */
export interface SimulatorOptions {
  readonly dataDirectory: string
  /** `undefined`: 8081 or the next free port. */
  readonly simulatorPort: number | undefined
  readonly partnerToken: string
  readonly partnerSecret: string
  /** Base URL of the service that receives the bank's events. */
  readonly eventsUrl: string
  readonly logger: Logger
}

const PROGRAM = fileURLToPath(import.meta.resolve('@pixgate/bank-simulator/main'))

const DEFAULT_PORT = 8_081

/**
 * Starts the simulator and waits until it is ready. It exits with this process, even if this process is killed.
 * @throws Error if it does not start
 */
export async function startSimulator(options: SimulatorOptions): Promise<Simulator> {
  const isOurs = new URL(options.eventsUrl).port === String(DEFAULT_PORT)
  const port = options.simulatorPort ?? (await freePort(isOurs ? DEFAULT_PORT + 1 : DEFAULT_PORT))
  const child = spawn(process.execPath, [PROGRAM], {
    // Its standard input is a pipe that closes when this process exits. Its warnings go to this process's log.
    stdio: ['pipe', 'pipe', 'pipe'],
    // Ctrl-C in the terminal reaches only this process, which then stops the simulator.
    detached: true,
    env: {
      PIXGATE_SIMULATOR_PORT: String(port),
      PIXGATE_SIMULATOR_DATA_DIR: join(options.dataDirectory, 'bank'),
      PIXGATE_SIMULATOR_EVENTS_URL: options.eventsUrl,
      PIXGATE_SIMULATOR_EXIT_WITH_PARENT: '1',
      PIXGATE_PARTNER_TOKEN: options.partnerToken,
      PIXGATE_PARTNER_SECRET: options.partnerSecret,
      ...compileCache(),
    },
  })
  createInterface({ input: child.stderr }).on('line', (line) => {
    options.logger.warn({ event: 'bank_simulator.warning' }, line)
  })
  const exited = once(child, 'exit')
  const ready = Promise.race([
    once(createInterface({ input: child.stdout }), 'line'),
    exited.then(([code]) => Promise.reject(new Error(`the simulated bank exited with status ${code}`))),
  ])
  const [line] = (await ready) as [string]
  const { port: listening } = JSON.parse(line) as { port: number }
  let stopping = false
  void exited.then(([code]) => {
    if (!stopping) options.logger.error({ code }, 'the simulated bank stopped')
  })
  return {
    url: `http://127.0.0.1:${listening}`,
    stop: async () => {
      stopping = true
      child.kill('SIGTERM')
      await exited
    },
  }
}

/** Gives the simulator the compile cache of this process, if it has one. */
function compileCache(): { readonly NODE_COMPILE_CACHE?: string } {
  const ofThisVersion = getCompileCacheDir()
  return ofThisVersion === undefined ? {} : { NODE_COMPILE_CACHE: dirname(ofThisVersion) }
}
