import type { Difference, TripWire } from '../../trip-wire/wire.ts'
import type { ImportStore } from '../store.ts'
import { bounded, type FileDifference } from './bound.ts'
import { REST, type RestOfFile } from './store.ts'

/** Opens cases of what files tell, as many as each may have, and one that stands for the others. @source rules#import.7 */
export interface FileReports {
  /** Opens what there is room for. @returns the references of those that are cases now */
  report(found: readonly FileDifference[]): Promise<ReadonlySet<string>>
  /** Opens, once for each file that had more, the case that stands for what has none. */
  reportRests(): Promise<void>
}

/** Makes it. */
export function createFileReports({
  store,
  tripWire,
}: {
  readonly store: Pick<ImportStore, 'openCases' | 'rests'>
  readonly tripWire: TripWire
}): FileReports {
  const waiting = new Set<string>()
  return {
    report: async (found) => {
      if (found.length === 0) return new Set()
      const { within, beyond } = bounded(found, await store.openCases(found.map(({ importId }) => importId)))
      for (const importId of beyond) waiting.add(importId)
      await tripWire.report(within)
      return new Set(within.map(({ reference }) => reference))
    },
    reportRests: async () => {
      if (waiting.size === 0) return
      await tripWire.report((await store.rests([...waiting])).map(restOf))
      waiting.clear()
    },
  }
}

/** No amount of its own: what it stands for may cancel out. */
function restOf({ id, ...rest }: RestOfFile): Difference {
  const facts = {
    reason: 'the file differs in more movements than may be cases at once',
    source: 'import',
    importId: id,
    firstDay: rest.first_day,
    lastDay: rest.last_day,
    rows: rest.row_count,
    onlyTheirs: rest.only_theirs,
    onlyTheirsInCents: Number(rest.in_cents),
    onlyTheirsOutCents: Number(rest.out_cents),
    onlyOurs: rest.only_ours,
    onlyOursCents: Number(rest.only_ours_cents),
    contradicting: rest.contradicting,
  }
  return { kind: REST, reference: id, facts, isDanger: false }
}
