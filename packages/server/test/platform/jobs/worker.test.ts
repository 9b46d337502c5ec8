import assert from 'node:assert/strict'
import test from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { Refusal } from '@pixgate/spec'
import { pino } from 'pino'
import { DatabaseUnavailable } from '../../../src/platform/db/errors.ts'
import { startWorker, type Worker, type WorkerOptions } from '../../../src/platform/jobs/worker.ts'
import { capturedLog } from '../../support/captured-log.ts'
import { steppedLogThrottle } from '../../support/stepped-log-throttle.ts'

const LONG_MS = 3_600_000

function worker(given: Partial<WorkerOptions> & Pick<WorkerOptions, 'processNext'>): Worker {
  return startWorker({ name: 'test', idleMs: LONG_MS, logger: pino({ level: 'silent' }), ...given })
}

/** Lets everything happen that can happen by itself. */
async function settle(): Promise<void> {
  for (let turns = 0; turns < 10; turns++) await turn()
}

/** Lets a worker that nobody wakes go on until the last step. @returns how many steps it took */
async function stepsUntil(isLast: (step: number) => boolean): Promise<number> {
  let steps = 0
  await new Promise<void>((resolve) => {
    const working = worker({
      idleMs: 1,
      processNext: async () => {
        steps += 1
        if (isLast(steps)) void working.stop().then(resolve)
        return false
      },
    })
  })
  return steps
}

/** Steps that each last until they are ended, and say whether there is more. */
function lastingSteps(isMore: boolean) {
  let begun = 0
  let end: () => void = () => undefined
  return {
    begun: () => begun,
    end: () => end(),
    processNext: async () => {
      begun += 1
      await new Promise<void>((resolve) => {
        end = resolve
      })
      return isMore
    },
  }
}

test('[cash-in.work.3] a worker goes on while there is more, and then sleeps', async () => {
  let left = 3
  let steps = 0
  const working = worker({
    processNext: async () => {
      steps += 1
      left -= 1
      return left > 0
    },
  })
  await settle()
  assert.equal(steps, 3)
  await working.stop()
})

test('[cash-in.work.3] a worker that is not woken polls after its idle time', async () => {
  assert.equal(await stepsUntil((step) => step === 3), 3)
})

test('[webhooks.9] one that is woken looks at once, also where it was woken in the middle of a step', async () => {
  const steps = lastingSteps(false)
  const working = worker(steps)
  steps.end()
  await settle()
  assert.equal(steps.begun(), 1)
  working.wake()
  await settle()
  assert.equal(steps.begun(), 2, 'it slept, and was woken')
  working.wake()
  steps.end()
  await settle()
  assert.equal(steps.begun(), 3, 'it looked once more, as something may have come after it had looked')
  steps.end()
  await working.stop()
})

test('[cash-in.work.3] a step that throws ends nothing: it is tried again', async () => {
  const steps = await stepsUntil((step) => {
    if (step === 1) throw new Error('the database is away')
    return true
  })
  assert.equal(steps, 2)
})

test('[PL-2] stopping waits for the step under way, begins none, and ends a sleep', async () => {
  const steps = lastingSteps(true)
  const working = worker(steps)
  let isStopped = false
  const stopped = working.stop().then(() => {
    isStopped = true
  })
  await settle()
  assert.equal(isStopped, false)
  steps.end()
  await stopped
  assert.equal(steps.begun(), 1)
  const sleeping = worker({ processNext: async () => false })
  await settle()
  await sleeping.stop()
})

/** What is logged of a worker whose steps fail like this, woken after each; and how many failures were counted. */
async function failing(errors: readonly Error[]) {
  const log = capturedLog()
  const throttle = steppedLogThrottle()
  let failures = 0
  let steps = 0
  const working = worker({
    logger: log.logger,
    throttle,
    onFailure: () => {
      failures += 1
    },
    processNext: async () => {
      const error = errors[steps]
      steps += 1
      if (error) throw error
      return false
    },
  })
  while (steps <= errors.length) {
    working.wake()
    await settle()
  }
  await working.stop()
  throttle.minuteEnds()
  return { failures, lines: log.lines.map(({ level, worker, reason, msg }) => [level, worker, reason, msg]) }
}

test('[logs.3] [metrics.1] a failing worker is logged once for each reason, then once a minute; each failure is counted', async () => {
  const denied = new Error('permission denied for table inbox')
  const sentence = 'a worker step failed; it is tried again'
  const { failures, lines } = await failing([denied, denied, denied, new Refusal('overloaded')])
  assert.equal(failures, 4)
  assert.deepEqual(lines, [
    ['error', 'test', String(denied), sentence],
    ['warn', 'test', String(new Refusal('overloaded')), sentence],
    ['error', 'test', String(denied), `${sentence} (happened 2 more times within the past minute)`],
  ])
})

test('[logs.3] [metrics.1] a worker counts failures of an unreachable database without logging them: the pool does', async () => {
  const away = new DatabaseUnavailable('away', false)
  const { failures, lines } = await failing([away, new Refusal('overloaded', { cause: away })])
  assert.deepEqual([failures, lines], [2, []])
})
