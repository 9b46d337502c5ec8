/** What tells a database from a copy of it. Pure. */

/** Which database it is; `null` where that is not known. */
export interface Identity {
  /** Of the cluster: another one where a dump was restored elsewhere. */
  readonly cluster: string | null
  /** Of the database and its tables in that cluster: others where a dump was restored beside it, or into it. */
  readonly tables: string | null
  /** Of the write-ahead log: each recovery to an instant, and each promotion of a standby, begins a new one. */
  readonly timeline: string | null
}

/**
 * What a database is to the one that was seen before: `PROMOTED` from its standby, or `RESTORED`. What is not known of either
 * says nothing.
 * @source rules#restored.1
 */
export function changeOf(before: Identity, now: Identity): 'SAME' | 'PROMOTED' | 'RESTORED' {
  if (differs(before.cluster, now.cluster) || differs(before.tables, now.tables)) return 'RESTORED'
  return differs(before.timeline, now.timeline) ? 'PROMOTED' : 'SAME'
}

/** What is known afterwards. */
export function knownAfter(before: Identity, now: Identity): Identity {
  return {
    cluster: now.cluster ?? before.cluster,
    tables: now.tables ?? before.tables,
    timeline: now.timeline ?? before.timeline,
  }
}

/** Whether both are known to be the same, and nothing is to be learned. */
export function isKnown(before: Identity, now: Identity): boolean {
  const after = knownAfter(before, now)
  return after.cluster === before.cluster && after.tables === before.tables && after.timeline === before.timeline
}

function differs(before: string | null, now: string | null): boolean {
  return before !== null && now !== null && before !== now
}
