import { Session } from 'node:inspector/promises'
import type { TestContext } from 'node:test'
import { realPause } from '../packages/server/src/platform/jobs/pause.ts'
import { globalSetup, globalTeardown } from '../packages/server/test/support/database-cluster.ts'
import { ADMIN_TOKEN, type World, world } from '../packages/server/test/support/world.ts'

/**
 * `npm run journeys` counts the files and functions that a request, an event, a decision and a delivery run through in a warm
 * process, by V8's precise coverage. Functions of idle workers are not counted. `-- --files` lists the files.
 */
const COUNTED = /\/packages\/(server\/src|spec\/src|brcode)\//

/** Time for workers to become idle. */
const IDLE_MS = 1_500

/** Time for an attempt to be recorded. */
const RECORDED_MS = 200

const session = new Session()
session.connect()
await session.post('Profiler.enable')

/** Functions of the product that ran since the last call. */
async function ran(): Promise<Set<string>> {
  const { result } = await session.post('Profiler.takePreciseCoverage')
  return new Set(
    result
      .filter(({ url }) => COUNTED.test(url))
      .flatMap(({ url, functions }) =>
        functions
          .filter(({ ranges }) => (ranges[0]?.count ?? 0) > 0)
          .map(({ functionName, ranges }) => `${url} ${functionName} ${ranges[0]?.startOffset}`),
      ),
  )
}

/**
 * @param times repetitions; only functions that ran each time count, not those of a worker that woke up
 * @returns the functions of a journey that do not run in an idle process, nor in another journey that it contains
 */
async function measure(
  name: string,
  go: () => Promise<unknown>,
  contained: ReadonlySet<string> = new Set(),
  times = 1,
) {
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
  await realPause.for(IDLE_MS)
  const idle = await ran()
  await go()
  const functions = new Set([...(await ran())].filter((one) => !idle.has(one) && !contained.has(one)))
  for (let time = 1; time < times; time++) {
    await go()
    const again = await ran()
    for (const one of functions) if (!again.has(one)) functions.delete(one)
  }
  await session.post('Profiler.stopPreciseCoverage')
  const files = new Set([...functions].map((one) => one.split(' ')[0]))
  console.log(
    `${name.padEnd(24)} ${String(files.size).padStart(4)} files ${String(functions.size).padStart(5)} functions`,
  )
  if (process.argv.includes('--files')) {
    const by = Map.groupBy(functions, (one) => one.split(' ')[0]?.replace(/.*packages\//, '') ?? '')
    for (const [file, of] of [...by].sort()) console.log(`  ${file} ${of.length}`)
  }
  return functions
}

async function pay(pix: World, id: string): Promise<void> {
  await pix.bankAction(`charges/${id}/pay`)
  await pix.becomes(id, 'PAID')
}

/** @returns the decision of the case about a second payment */
async function decision(pix: World, chargeId: string, decided: object): Promise<() => Promise<void>> {
  await pix.bankAction(`charges/${chargeId}/pay`)
  const headers = { authorization: `Bearer ${ADMIN_TOKEN}` }
  const read = async (path: string) => (await pix.call('GET', `/operator/cases${path}`, undefined, headers)).body
  let found = await read(`?operation_id=${chargeId}`)
  for (; found.data.length === 0; found = await read(`?operation_id=${chargeId}`)) await pix.work()
  const { id, version } = await read(`/${found.data[0].id}`)
  const order = { ...decided, reason: 'journey', version }
  return async () => {
    const { status, body } = await pix.call('POST', `/operator/cases/${id}/decisions`, order, headers)
    if (status !== 200) throw new Error(JSON.stringify(body))
  }
}

async function measureAll(pix: World): Promise<void> {
  // Warm-up: compiles code and fills caches.
  const { id: first } = await pix.paid('10.00')
  const second = await pix.charge('10.00')
  const others = [await pix.charge('10.00'), await pix.charge('10.00'), await pix.charge('10.00')]
  const { id: third } = await pix.paid('10.00')
  const lost = await decision(pix, first, { decision: 'write_off' })
  const returned = await decision(pix, third, { decision: 'return_to_payer', amountCents: 1000 })
  await measure('a charge created', () => pix.charge('10.00'))
  const paid = await measure('a bank event, to PAID', () => pay(pix, second.id))
  await measure('a case decided', lost)
  await measure('… returned to the payer', returned)
  pix.service.startWorkers()
  await realPause.for(IDLE_MS)
  const deliver = async () => {
    const { id } = others.pop() ?? (await pix.charge('10.00'))
    await pay(pix, id)
    while (!pix.receiver.received.some(({ body }) => body.includes(id))) await realPause.for(1)
    await realPause.for(RECORDED_MS)
  }
  await measure('a webhook delivered', deliver, paid, others.length)
}

await globalSetup()
const ends: (() => unknown)[] = []
try {
  const context = { after: (end: () => unknown) => void ends.push(end) } as unknown as TestContext
  await measureAll(await world(context, {}, { isStepped: true }))
} finally {
  for (const end of ends.reverse()) await end()
  await globalTeardown()
}
