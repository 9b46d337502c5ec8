import { connect } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { type Answer, readAnswer } from './connection.ts'
import type { RawRequest } from './raw-requests.ts'

/** What came of bytes that were sent as they are. */
export interface RawOutcome {
  readonly statuses: readonly number[]
  readonly complaints: readonly string[]
}

/** How long a server that owes us answers and the end of the connection may be silent, and one that owes us nothing. */
const PATIENCE_MS = 5_000
const QUIET_MS = 100

/** Sends a request, and finds everything that is wrong with what comes back. */
export async function exchangeRaw(port: number, { name, slices, due }: RawRequest): Promise<RawOutcome> {
  const isOpen = typeof due === 'number'
  const { received, isClosed } = await exchange(port, slices, isOpen ? QUIET_MS : PATIENCE_MS)
  const answers = answersIn(received)
  if (answers === undefined) return { statuses: [], complaints: [`${name}: no HTTP: ${received.toString('latin1')}`] }
  const statuses = answers.map(({ status }) => status)
  const isDue = isOpen ? statuses.length <= due : statuses.join() === due.join() && isClosed
  const got = `${statuses.join() || 'nothing'}, ${isClosed ? 'closed' : 'left open'}`
  return {
    statuses,
    complaints: [
      ...(isDue ? [] : [`${name}: ${got}; ${due} was due`]),
      ...answers.flatMap(complaintsAbout).map((complaint) => `${name}: ${complaint}`),
    ],
  }
}

function complaintsAbout({ status, headers, body }: Answer): string[] {
  if (status < 400) return []
  const isProblem = headers.get('content-type') === 'application/problem+json; charset=utf-8'
  return [
    ...(status < 500 ? [] : [`the server failed: ${status}`]),
    ...(isProblem || status === 408 || status === 431 ? [] : [`no problem: ${status} ${body}`]),
    ...(headers.has('x-correlation-id') ? [] : ['no correlation id']),
  ]
}

function answersIn(received: Buffer): Answer[] | undefined {
  const answers: Answer[] = []
  try {
    for (let rest = received; rest.length > 0; ) {
      const found = readAnswer(rest, 'GET')
      if (!found) return undefined
      answers.push(found.answer)
      rest = found.rest
    }
  } catch {
    return undefined
  }
  return answers
}

/** Writes the slices and reads until the server closes the connection, or says nothing for some time. */
async function exchange(
  port: number,
  slices: readonly Buffer[],
  patienceMs: number,
): Promise<{ readonly received: Buffer; readonly isClosed: boolean }> {
  const socket = connect({ host: '127.0.0.1', port, noDelay: true })
  const chunks: Buffer[] = []
  const isClosed = new Promise<boolean>((resolve) => {
    socket.on('data', (chunk: Buffer) => chunks.push(chunk))
    socket.on('error', () => undefined)
    socket.on('close', () => resolve(true))
    socket.setTimeout(patienceMs, () => resolve(false))
  })
  for (const slice of slices) {
    socket.write(slice)
    await setImmediate()
  }
  const outcome = { isClosed: await isClosed, received: Buffer.concat(chunks) }
  socket.destroy()
  return outcome
}
