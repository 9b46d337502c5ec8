import type { TestContext } from 'node:test'
import { answer, scriptedBank } from '../banks/pixgate/scripted-bank.ts'
import { type Answer, type World, type WorldOptions, world } from '../support/world.ts'

/** The simulated bank, with somebody between it and the service who changes what it answers. */
export interface TamperedWorld extends World {
  /** Requests in order: `GET /statement`. */
  readonly asked: string[]
  /** Changes an answer before the service gets it; `undefined` leaves it as it is. */
  tamper: (call: string, answer: Pick<Answer, 'status' | 'body'>) => Pick<Answer, 'status' | 'body'> | undefined
}

/** No event comes within a test. */
export const EVENTS_LOST = { eventDelayMs: 60_000 }

/** Builds a world without workers around such a bank. */
export async function tamperedWorld(
  t: TestContext,
  options: WorldOptions = {},
  environment: Record<string, string> = {},
): Promise<TamperedWorld> {
  const asked: string[] = []
  let made: TamperedWorld | undefined
  const bank = await scriptedBank(t, async (response, { method = '', path = '', body }) => {
    const call = `${method} ${path.replace(/\?.*/, '')}`
    asked.push(call)
    const told = made && (await made.bank(method, path, body || undefined))
    const given = told && ((await made?.tamper(call, told)) ?? told)
    answer(response, given?.status ?? 500, given?.body ?? {})
  })
  const pix = await world(t, environment, { isStepped: true, bankUrl: bank.url, ...options })
  made = { ...pix, asked, tamper: () => undefined }
  return made
}

/** The bank says that it knows nothing of this. */
export const NOT_FOUND = { status: 404, body: { errorCode: 'not_found' } }
