import { workAsApplication } from '../platform/db/login.ts'
import { withSnapshot } from '../platform/db/snapshot.ts'
import { CLOSE_EVERY_MS, type Closer, type CloserOptions, createCloser } from './closer.ts'
import { createExporter } from './export.ts'
import { type CloseHandlers, createCloseHandlers } from './routes.ts'

export { CLOSE_EVERY_MS }

/** The daily close, and what a finance department takes of the books. */
export interface ClosesModule extends Closer {
  readonly handlers: CloseHandlers
}

/** Makes the module. */
export function createClosesModule(options: CloserOptions): ClosesModule {
  const { databaseUrl: url } = options
  const closer = createCloser(options)
  const exporter = createExporter(url)
  return {
    processNext: closer.processNext,
    stop: () => {
      closer.stop()
      exporter.stop()
    },
    handlers: createCloseHandlers({
      ...options,
      exporter,
      snapshot: (work) =>
        withSnapshot({ url, name: 'pixgate closes' }, async (queries) => {
          await workAsApplication(queries)
          return work(queries)
        }),
    }),
  }
}
