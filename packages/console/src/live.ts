import type { listChanges } from '@pixgate/spec'
import { ApiError, call, client } from './api.ts'

/**
 * Changes at the service, so that pages are right without a reload. All tabs of a browser share one long poll: the tab
 * that holds the lock asks and tells the others.
 */

const NAME = 'pixgate-changes'
const WAIT_SECONDS = 20
/** After so long without an answer the connection is dead, although the browser does not know it. */
const SILENCE_MS = (WAIT_SECONDS + 10) * 1_000
const RETRY_MS = [500, 1_000, 2_000, 5_000, 10_000]
/** Lists, and everything after a reset, are read again at most once in this time, however much changes. */
const LISTS_MS = 1_000

interface Change {
  readonly id: string
  readonly version: number
}

interface News {
  readonly isReset: boolean
  readonly changes: readonly Change[]
}

export type Connection = 'live' | 'lost'

let connection: Connection = 'live'
const listeners = new Set<() => void>()

export function connectionNow(): Connection {
  return connection
}

export function onConnection(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

function become(next: Connection): void {
  if (connection === next) return
  connection = next
  for (const listener of listeners) listener()
}

/** Reads of one thing, by the first part of their key. */
const OF_ONE = new Set(['operation'])
/** Reads that a change of an operation or a case may concern. */
const LISTS = new Set([
  ...['overview', 'operations', 'cases', 'case', 'preview', 'approvals', 'proposals', 'search', 'book'],
  ...['webhook', 'deliveries', 'entries', 'reconciliation'],
])

/** The service computes the overview once in this time. */
const OVERVIEW_MS = 2_000
let overviewTimer: ReturnType<typeof setTimeout> | undefined

/** Reads the overview again when it is certainly younger than now: until then the service may answer the one before. */
export function renewOverview(): void {
  clearTimeout(overviewTimer)
  overviewTimer = setTimeout(() => void client.invalidateQueries({ queryKey: ['overview'] }), OVERVIEW_MS)
}

let renewedAt = 0
let due: 'lists' | 'everything' | undefined

function renew(what: 'lists' | 'everything'): void {
  const isWaiting = due !== undefined
  if (due !== 'everything') due = what
  if (isWaiting) return
  setTimeout(
    () => {
      const isDue =
        due === 'everything' ? (kind: unknown) => kind !== 'session' : (kind: unknown) => LISTS.has(String(kind))
      due = undefined
      renewedAt = performance.now()
      void client.invalidateQueries({ predicate: ({ queryKey }) => isDue(queryKey[0]) })
      renewOverview()
    },
    Math.max(0, renewedAt + LISTS_MS - performance.now()),
  )
}

function apply({ isReset, changes }: News): void {
  if (isReset) {
    renew('everything')
    return
  }
  if (changes.length === 0) return
  const ids = new Set(changes.map(({ id }) => id))
  void client.invalidateQueries({
    predicate: ({ queryKey: [kind, path] }) =>
      OF_ONE.has(String(kind)) && ids.has(String(path).slice(String(path).lastIndexOf('/') + 1)),
  })
  renew('lists')
}

/** @returns a function that ends it */
export function startLive(): () => void {
  const end = new AbortController()
  const channel = new BroadcastChannel(NAME)
  channel.onmessage = ({ data }: MessageEvent<News>) => apply(data)
  const tell = (news: News) => {
    apply(news)
    channel.postMessage(news)
  }
  // Locks need a secure context: without them each tab asks by itself.
  const lead = () => poll(tell, end.signal)
  const leading = navigator.locks ? navigator.locks.request(NAME, { signal: end.signal }, lead) : lead()
  leading.catch(() => undefined)
  return () => {
    end.abort()
    channel.close()
  }
}

async function poll(tell: (news: News) => void, signal: AbortSignal): Promise<void> {
  let cursor: string | undefined
  let failures = 0
  while (!signal.aborted) {
    try {
      const answer = await changesAfter(cursor, signal)
      // Without a cursor, or after a gap, anything may have changed meanwhile.
      const isReset = answer.isReset || failures > 0
      cursor = answer.cursor
      failures = 0
      become('live')
      tell({ isReset, changes: answer.changes })
    } catch (error) {
      if (signal.aborted) return
      if (error instanceof ApiError && error.status === 401) {
        void client.invalidateQueries({ queryKey: ['session'] })
        return
      }
      failures += 1
      if (failures > 1) become('lost')
      await pause(RETRY_MS[Math.min(failures, RETRY_MS.length) - 1] ?? 0, signal)
    }
  }
}

/** Fails early when the browser is online again: what was asked before may never be answered. */
async function changesAfter(cursor: string | undefined, signal: AbortSignal) {
  const query = { cursor, wait: cursor === undefined ? 0 : WAIT_SECONDS }
  const end = new AbortController()
  addEventListener('online', () => end.abort(), { signal: end.signal })
  const ends = AbortSignal.any([signal, end.signal, AbortSignal.timeout(SILENCE_MS)])
  try {
    return await call<typeof listChanges>('GET', '/operator/changes', { query, isBackground: true, signal: ends })
  } finally {
    end.abort()
  }
}

/** Ends early when the browser is online again. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer)
      removeEventListener('online', end)
      signal.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, ms)
    addEventListener('online', end)
    signal.addEventListener('abort', end)
  })
}
