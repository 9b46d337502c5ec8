import { statement } from '../../platform/db/database.ts'
import type { Parameters } from './parameters.ts'
import type { Batch } from './part.ts'

/**
 * Writes the batch's own id: where it was abandoned, because the answer to its sending was lost, the statement fails on it.
 * @source rules#engine.13
 */
export function fence({ id }: Batch, p: Parameters): string {
  return `
  fence AS (
    INSERT INTO batch (id, outcome) SELECT ${p.one('uuid', id)}, 'committed' FROM go WHERE yes
  )`
}

/** What became of a batch, for good. */
export type BatchOutcome = 'committed' | 'abandoned'

/** Gives a batch up, unless it was committed. @source rules#engine.13 */
export const abandonBatch = statement<[batchId: string], { outcome: BatchOutcome }>(
  'engine.abandon_batch',
  'SELECT abandon_batch($1) AS outcome',
)
