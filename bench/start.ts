import type { After, Benchmark } from './benchmark.ts'
import { inRounds, median } from './measure.ts'
import { temporaryDirectory } from './postgres.ts'
import { startServer } from './server-process.ts'

const ROUNDS = 5

/** Time until a sandbox is ready. */
export const start: Benchmark = {
  name: 'start',
  summary: '`npm start` until /readyz answers 200, with an empty data directory and with an existing one',
  run: async (after) => {
    const rounds = await inRounds(ROUNDS, async () => {
      const dataDirectory = await temporaryDirectory(after)
      return { empty: await startMs(after, dataDirectory), existing: await startMs(after, dataDirectory) }
    })
    const empty = median(rounds.map((round) => round.empty)) / 1_000
    const existing = median(rounds.map((round) => round.existing)) / 1_000
    return {
      figures: [
        { 'data directory': 'empty', seconds: empty },
        { 'data directory': 'existing', seconds: existing },
      ],
      targets: [
        { what: 'seconds until ready with an empty data directory', value: empty, atMost: 4 },
        { what: 'seconds until ready with an existing data directory', value: existing, atMost: 2 },
      ],
    }
  },
}

async function startMs(after: After, dataDirectory: string): Promise<number> {
  const server = await startServer(after, ['npm', 'start'], {
    PIXGATE_DATA_DIR: dataDirectory,
    PIXGATE_SIMULATOR_PORT: '0',
  })
  await server.stop()
  return server.startMs
}
