import { setTimeout as delay } from 'node:timers/promises'

/** Between two looks: what is waited for needs the processor, too. */
const GLANCE_MS = 3

/** Reads until it holds. */
export async function poll<T>(read: () => Promise<T>, holds: (found: T) => boolean): Promise<T> {
  for (;;) {
    const found = await read()
    if (holds(found)) return found
    await delay(GLANCE_MS)
  }
}

/** Looks until it holds. */
export async function until(holds: () => Promise<unknown>): Promise<void> {
  await poll(holds, Boolean)
}
