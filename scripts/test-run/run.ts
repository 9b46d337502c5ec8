import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Order, Report } from './worker.ts'

/** Runs groups of test files, each group in a process of its own. */

/** How the processes are started. */
export interface RunOptions {
  readonly environment: NodeJS.ProcessEnv
  /** Processes at a time. */
  readonly concurrency: number
  readonly namePattern?: string | undefined
  /** A process without a report for this time is killed. */
  readonly silenceMs: number
  /** Stops all processes then; their files are `unfinished`. */
  readonly stopAfterMs?: number | undefined
  readonly onFailure: (failure: Failure) => void
  readonly onFiles: (done: number) => void
}

/** A failed test, or a file that did not end. */
export interface Failure {
  readonly file: string
  readonly name: string
  readonly text: string
}

/** Result of all groups. */
export interface Outcome {
  passed: number
  readonly failures: Failure[]
  readonly skipped: { readonly file: string; readonly name: string; readonly reason: string }[]
  /** Duration and CPU time of each file, in milliseconds. */
  readonly files: Map<string, { durationMs: number; cpuMs: number }>
  readonly notes: { readonly file: string; readonly text: string }[]
  readonly exercised: Set<string>
  /** Files that were stopped when the time was up. */
  readonly unfinished: string[]
}

const WORKER = fileURLToPath(new URL('./worker.ts', import.meta.url))

/** Running processes, to end with the parent. */
const running = new Set<ChildProcess>()

let isStopped = false

/** Ends all test processes; no other is started. */
export function killAll(): void {
  isStopped = true
  for (const child of running) child.kill('SIGTERM')
}

/** Runs all groups in their order. */
export async function runGroups(groups: readonly (readonly string[])[], options: RunOptions): Promise<Outcome> {
  const outcome: Outcome = {
    passed: 0,
    failures: [],
    skipped: [],
    files: new Map(),
    notes: [],
    exercised: new Set(),
    unfinished: [],
  }
  const waiting = [...groups]
  let done = 0
  const work = async () => {
    for (;;) {
      const files = waiting.shift()
      if (!files || isStopped) return
      await runGroup(files, options, outcome)
      done += files.length
      options.onFiles(done)
    }
  }
  const timer = options.stopAfterMs === undefined ? undefined : setTimeout(killAll, options.stopAfterMs)
  await Promise.all(Array.from({ length: options.concurrency }, work))
  clearTimeout(timer)
  return outcome
}

/** Keeps the last output of a process, which is shown only when it fails. */
const OUTPUT_CHARS = 4_000

async function runGroup(files: readonly string[], options: RunOptions, outcome: Outcome): Promise<void> {
  const child = fork(WORKER, { stdio: ['ignore', 'pipe', 'pipe', 'ipc'], env: options.environment, execArgv: [] })
  running.add(child)
  let output = ''
  const keep = (bytes: Buffer) => {
    output = (output + bytes).slice(-OUTPUT_CHARS)
  }
  child.stdout?.on('data', keep)
  child.stderr?.on('data', keep)

  let [isDone, at, killed] = [false, { file: files[0] ?? '', name: '' }, '']
  const watch = () =>
    setTimeout(() => {
      killed = `, killed after ${options.silenceMs / 60_000} minutes without a report`
      child.kill('SIGKILL')
    }, options.silenceMs)
  let watchdog = watch()
  child.on('message', (report: Report) => {
    clearTimeout(watchdog)
    watchdog = watch()
    if (report.kind === 'started') at = { file: relative(report.file), name: report.name }
    // Without its browser or server a test that was stopped fails.
    if (isStopped) return
    isDone ||= report.kind === 'done'
    record(report, options, outcome)
  })
  child.send({ files, ...(options.namePattern !== undefined && { namePattern: options.namePattern }) } satisfies Order)

  const ending = await new Promise<string>((resolve) =>
    child.once('close', (code, signal) => resolve(`${signal ?? code}`)),
  )
  clearTimeout(watchdog)
  running.delete(child)
  if (isDone) return
  if (isStopped) {
    outcome.unfinished.push(...files)
    return
  }
  const text = `the process of ${files.join(', ')} ended with ${ending}${killed}\n${output}`
  const failure = { ...at, text }
  outcome.failures.push(failure)
  options.onFailure(failure)
}

function record(report: Report, options: RunOptions, outcome: Outcome): void {
  if (report.kind === 'started') return
  if (report.kind === 'done') {
    for (const name of report.exercised) outcome.exercised.add(name)
    return
  }
  const file = relative(report.file)
  if (report.kind === 'note') {
    outcome.notes.push({ file, text: report.text })
    return
  }
  const { name, durationMs, text = '' } = report
  const taken = outcome.files.get(file) ?? { durationMs: 0, cpuMs: 0 }
  outcome.files.set(file, taken)
  taken.cpuMs += report.cpuMs
  if (report.isTopLevel) taken.durationMs += durationMs
  if (report.outcome === 'passed') outcome.passed += 1
  else if (report.outcome === 'skipped') outcome.skipped.push({ file, name, reason: text })
  else if (!report.isParent) {
    outcome.failures.push({ file, name, text })
    options.onFailure({ file, name, text })
  }
}

const HERE = `${process.cwd()}/`

function relative(file: string): string {
  return file.startsWith(HERE) ? file.slice(HERE.length) : file
}
