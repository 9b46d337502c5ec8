import type { Operation } from '../../src/engine/operation.ts'

/** The operation with these cases open, each of which has its kind for an id. */
export function withOpenCases<Kind extends Operation>(operation: Kind, ...kinds: readonly string[]): Kind {
  return { ...operation, openCases: kinds.map((kind) => ({ id: kind, kind, reference: '', version: 1 })) }
}
