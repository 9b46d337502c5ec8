import assert from 'node:assert/strict'
import type { World } from './world.ts'

/** Puts the time of a stepped world forward by so many minutes, one by one. */
export async function minutes({ later }: Pick<World, 'later'>, count: number): Promise<void> {
  for (let minute = 0; minute < count; minute += 1) await later(60_000)
}

/**
 * Puts the time of a stepped world forward, in steps in which nothing is missed, until what is read has this status.
 * @returns what is read then
 */
export async function stepUntil(
  { get, later }: Pick<World, 'get' | 'later'>,
  path: string,
  status: string,
  stepMs = 1_000,
  steps = 200,
): ReturnType<World['get']> {
  for (let step = 0; step < steps; step++) {
    const found = await get(path)
    if (found.status === status) return found
    await later(stepMs)
  }
  return assert.fail(`still ${(await get(path)).status} and not ${status}`)
}
