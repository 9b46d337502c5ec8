import type { WorldOptions } from './world.ts'

/** A simulated bank that lacks something: what it cannot be asked about, its events are believed of. */
export function bankWithout(...lacking: readonly string[]): WorldOptions {
  return {
    bank: (simulated) => ({
      ...simulated,
      capabilities: new Set([...simulated.capabilities].filter((capability) => !lacking.includes(capability))),
    }),
  }
}
