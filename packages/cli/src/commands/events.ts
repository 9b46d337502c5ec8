import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { FeedEvent, Pixgate } from '@pixgate/sdk'
import type { Command, Option } from '../command.ts'
import { usageError } from '../failure.ts'
import { EVENT_TYPES, endOfFeed, eventType, followed, operationOf } from '../feed.ts'
import type { Input } from '../input.ts'
import { safeText } from '../output.ts'
import { configurationFolder, readPrivate, writePrivate } from '../settings.ts'

const TYPE: Option = { kind: 'text', value: 'TYPE', says: `only ${EVENT_TYPES.join(', ')}` }
const UNTIL: Option = { kind: 'text', value: 'N', says: 'end after so many events' }

/** State of `listen` for a receiver, in a file. */
interface Kept {
  readonly secret: string
  readonly cursor?: string | undefined
}

const tail: Command = {
  name: 'events tail',
  says: 'print events as they happen',
  options: {
    from: { kind: 'text', value: 'PLACE', says: 'now (the default), first, or a cursor' },
    type: TYPE,
    until: UNTIL,
  },
  examples: ['pixgate events tail --from first --until 2', 'pixgate events tail --from first --until 1 --json'],
  run: async (input, context) => {
    const type = eventType(input.text('type'))
    const pixgate = await context.merchant()
    const { out, signal } = context
    const from = input.text('from') ?? 'now'
    const cursor = from === 'first' ? undefined : from === 'now' ? await endOfFeed(pixgate, signal) : from
    let left = limitOf(input)
    for await (const { entry } of followed(pixgate, context, { cursor, type })) {
      out.item({ ...entry, event: JSON.parse(entry.body) }, lineOf(entry))
      left -= 1
      if (left <= 0) return
    }
  },
}

const listen: Command = {
  name: 'listen',
  says: 'forward events to a server on your machine, as webhooks',
  more: [
    'Each event is sent until the receiver answers 2xx: the same bytes as everywhere, signed with Digital-Signature and, as',
    'webhook-signature, with a secret of this machine that is printed. Events of one operation keep their order; nothing is lost',
    'while this program, Pixgate or the receiver is down. An event may come twice: webhook-id is the same.',
  ],
  options: {
    'forward-to': { kind: 'text', value: 'URL', says: 'the receiver, such as localhost:3000/pix', isRequired: true },
    from: { kind: 'text', value: 'PLACE', says: 'last (the default: where it ended; at first now), now, or a cursor' },
    until: UNTIL,
  },
  examples: ['pixgate listen --forward-to $RECEIVER --from $CURSOR --until 2'],
  run: async (input, context) => {
    const url = receiverOf(input.needed('forward-to'))
    const pixgate = await context.merchant()
    const { forward, pairName } = await import('../forward.ts')
    const { settings, out, signal, surroundings } = context
    const name = pairName(settings.url ?? '', (settings.apiKey ?? '').slice(0, 16), url)
    const path = join(configurationFolder(surroundings), 'listen', `${name}.json`)
    const kept = readKept(path)
    const state = { ...kept, cursor: await startOf(input.text('from') ?? 'last', kept, pixgate, signal) }
    writePrivate(path, state)
    out.item(
      { forwardTo: url, secret: state.secret, cursor: state.cursor },
      `Forwarding events to ${url}\nSecret of webhook-signature: ${state.secret}`,
    )
    await forward(limited(followed(pixgate, context, { cursor: state.cursor, type: undefined }), limitOf(input)), {
      url,
      secret: state.secret,
      signal,
      link,
      keep: (cursor) => writePrivate(path, { ...state, cursor }),
      taken: (entry, result) => {
        const { id, type, position, cursor } = entry
        const tries = result.attempts > 1 ? `, attempt ${result.attempts}` : ''
        const line = `${lineOf(entry)}  ${result.status} in ${result.ms} ms${tries}`
        out.item({ id, type, position, cursor, operationId: operationOf(entry).id, ...result }, line)
      },
      failed: (entry, why, waitMs) =>
        out.note(`event ${entry.position} was not taken: ${why}; next attempt in ${(waitMs / 1_000).toFixed(1)} s`),
    })
  },
}

export const eventCommands: readonly Command[] = [tail, listen]

const link = {
  send: (url: string, init: RequestInit) => fetch(url, init),
  now: () => Date.now(),
  sleep: (ms: number, signal: AbortSignal) => sleep(ms, undefined, { signal }).catch(() => undefined),
}

function limitOf(input: Input): number {
  return input.number('until', Number.POSITIVE_INFINITY)
}

async function* limited<Item>(items: AsyncIterable<Item>, count: number): AsyncGenerator<Item> {
  let left = count
  for await (const item of items) {
    yield item
    left -= 1
    if (left <= 0) return
  }
}

async function startOf(from: string, kept: Kept, pixgate: Pixgate, signal: AbortSignal): Promise<string> {
  if (from === 'last' && kept.cursor !== undefined) return kept.cursor
  return from === 'last' || from === 'now' ? endOfFeed(pixgate, signal) : from
}

function readKept(path: string): Kept {
  const text = readPrivate(path)
  if (text === undefined) return { secret: `whsec_${randomBytes(24).toString('base64')}` }
  try {
    return JSON.parse(text)
  } catch {
    throw usageError(`${path} is damaged`, 'Remove it; the next start has another secret and begins now.')
  }
}

/** @throws Failure used wrongly */
function receiverOf(text: string): string {
  const url = /^https?:\/\//.test(text) ? text : `http://${text}`
  if (!URL.canParse(url)) throw usageError('--forward-to must be an address, such as localhost:3000/pix')
  return new URL(url).href
}

function lineOf(entry: FeedEvent): string {
  const { id = '', status = '', external_id: externalId = '' } = operationOf(entry)
  const time = entry.createdAt.slice(11, 19)
  return safeText([time, entry.type, status, id, externalId].join('  '))
}
