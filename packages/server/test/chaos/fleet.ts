import { type AddressInfo, connect, createServer } from 'node:net'
import { fileURLToPath } from 'node:url'
import { realPause } from '../../src/platform/jobs/pause.ts'
import { testPort } from '../support/port.ts'
import { type KillableProcess, spawnProgram, startServerProcess } from '../support/server-process.ts'
import { ADMIN_TOKEN, ENCRYPTION_KEY } from '../support/world.ts'
import { type Connection, connectionOf } from './connection.ts'
import { type BankKind, type ConnectorName, type ProcessName, processNames } from './plan.ts'

/** Two servers, two workers and a bank, each a process that is started again when it is gone. */
export interface Fleet extends Pick<Connection, 'undelivered'> {
  /** Where merchants ask. */
  readonly apiUrls: readonly string[]
  readonly bankUrl: string
  /** Resolves when every process is ready. */
  ready(): Promise<void>
  /** Tells the bank where to call, where it has to be told: once, when every process is ready and nothing goes wrong. */
  register(): Promise<void>
  pidOf(name: ProcessName): number | undefined
  kill(name: ProcessName): void
  /** Puts all clocks forward; no process may be stopped. */
  advance(ms: number): Promise<void>
  /** What processes complained of, and how often. */
  complaints(): ReadonlyMap<string, number>
  /** How often processes were started again. */
  readonly restarts: number
  /** Ends all of them, for good. */
  stop(): Promise<void>
}

/** The fee of each payment and of each payout. */
const FEE_CENTS = 10

const BANK = fileURLToPath(new URL('bank-program.ts', import.meta.url))

/** Before a process that has gone is started again. */
const RESTART_MS = 200

/** So often in a row a start may fail: more than any fault explains. */
const IN_VAIN_MAX = 50

/** What the fleet stands on. */
export interface FleetOptions {
  readonly directory: string
  readonly databaseUrl: string
  readonly connector: ConnectorName
  readonly bankKind: BankKind
  /** Called when the bank has been started again: it begins as a good one. */
  readonly onBankReady: (url: string) => Promise<void>
}

/** Starts them, and a door for the bank's events that leads to either server. */
export async function startFleet(options: FleetOptions): Promise<Fleet> {
  const { directory, databaseUrl, connector, bankKind, onBankReady } = options
  const ports = { 'api-1': await testPort(), 'api-2': await testPort(), bank: await testPort() }
  const bankUrl = `http://127.0.0.1:${ports.bank}`
  const door = await eventsDoor([ports['api-1'], ports['api-2']])
  const places = { directory, bankUrl, apiPixPort: await testPort(), eventsUrl: door.url }
  const connection = await connectionOf({ connector, bankKind, ...places })
  const { service, bank } = settingsOf(connection, { directory, databaseUrl, bankPort: ports.bank })
  const running = new Map<ProcessName, KillableProcess>()
  const complaints = new Map<string, number>()
  let [aheadMs, restarts, startsInVain, isOver] = [0, 0, 0, false]

  function launch(name: ProcessName): KillableProcess {
    if (name === 'bank') return spawnProgram(BANK, bank, [String(aheadMs)], '"ready":true')
    const role = name.startsWith('api') ? 'api' : 'worker'
    const port = name === 'api-1' || name === 'api-2' ? { PORT: String(ports[name]) } : {}
    return startServerProcess({ ...service, ...port }, aheadMs, role)
  }
  function start(name: ProcessName): void {
    const process = launch(name)
    running.set(name, process)
    if (name === 'bank')
      void process.ready.then(async (isReady) => {
        if (isReady) await onBankReady(bankUrl)
      })
    void process.gone.then(async () => {
      for (const complaint of process.complaints) count(complaints, messageOf(complaint))
      if (!isOver) expectKilled(name, process)
      await realPause.for(RESTART_MS)
      if (isOver) return
      restarts += 1
      startsInVain = (await process.ready) ? 0 : startsInVain + 1
      start(name)
    })
  }
  async function ready(): Promise<void> {
    for (const name of processNames) {
      while (!(await running.get(name)?.ready)) {
        if (startsInVain > IN_VAIN_MAX) throw new Error(`${name} does not start: ${[...complaints.keys()].join('; ')}`)
        await realPause.for(RESTART_MS)
      }
    }
  }
  for (const name of processNames) start(name)
  return {
    apiUrls: [ports['api-1'], ports['api-2']].map((port) => `http://127.0.0.1:${port}`),
    bankUrl,
    undelivered: connection.undelivered,
    ready,
    register: () => connection.register({ ...service, PIXGATE_LOG_LEVEL: 'silent' }),
    pidOf: (name) => running.get(name)?.pid,
    kill: (name) => running.get(name)?.kill(),
    advance: async (ms) => {
      aheadMs += ms
      await Promise.all([...running.values()].map((process) => process.advance(ms)))
    },
    complaints: () => {
      const all = new Map(complaints)
      for (const process of running.values()) for (const it of process.complaints) count(all, messageOf(it))
      return all
    },
    get restarts() {
      return restarts
    },
    stop: async () => {
      isOver = true
      for (const process of running.values()) process.kill()
      await Promise.all([...running.values()].map(({ gone }) => gone))
      door.close()
    },
  }
}

/** The variables of the two programs. */
function settingsOf(
  connection: Connection,
  { directory, databaseUrl, bankPort }: Pick<FleetOptions, 'directory' | 'databaseUrl'> & { readonly bankPort: number },
) {
  const service = {
    ...{ ...connection.service, DATABASE_URL: databaseUrl, PIXGATE_RATE_LIMIT_PER_MINUTE: '0' },
    ...{ PIXGATE_ADMIN_TOKEN: ADMIN_TOKEN, PIXGATE_ENCRYPTION_KEY: ENCRYPTION_KEY, PIXGATE_DATA_DIR: directory },
    ...{ PIXGATE_FEE_CASH_IN_CENTS: String(FEE_CENTS), PIXGATE_FEE_CASH_OUT_CENTS: String(FEE_CENTS) },
  }
  const at = { PIXGATE_SIMULATOR_PORT: String(bankPort), PIXGATE_SIMULATOR_DATA_DIR: `${directory}/bank` }
  return { service, bank: { ...connection.bank, ...at } }
}

/** Chaos kills, and asks nobody to stop; who ends with status 0 would not be started again by whoever runs it. */
function expectKilled(name: ProcessName, process: KillableProcess): void {
  if (process.status() === 0) throw new Error(`${name} ended by itself, with status 0`)
}

function count(counts: Map<string, number>, what: string): void {
  counts.set(what, (counts.get(what) ?? 0) + 1)
}

/** A line of the log without what differs each time. */
function messageOf(line: string): string {
  if (!line.startsWith('{')) return line.slice(0, 120)
  const { level, msg, error, outcome } = JSON.parse(line)
  return [level, msg, outcome ?? error ?? '']
    .join(': ')
    .replaceAll(/[0-9a-f-]{36}/g, '…')
    .slice(0, 160)
}

/** An address whose connections lead to one server after the other; cut where that one is away. */
async function eventsDoor(ports: readonly number[]): Promise<{ readonly url: string; close(): void }> {
  let turns = 0
  const server = createServer((from) => {
    turns += 1
    const to = connect(ports[turns % ports.length] as number, '127.0.0.1')
    for (const socket of [from, to]) {
      socket.on('error', () => undefined)
      socket.on('close', () => {
        from.destroy()
        to.destroy()
      })
    }
    from.pipe(to).pipe(from)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  server.unref()
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => void server.close() }
}
