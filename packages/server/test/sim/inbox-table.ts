/** The inbox's table in memory, and its statements by their names. */

/** An event as it is kept. */
interface Row {
  readonly inbox_id: string
  readonly ordinal: number
  readonly endpoint: string
  readonly body: Buffer
  readonly is_proven: boolean
  readonly dedupe_key: string
  readonly content_hash: Buffer
  state: string
  attempts: number
  failures: number
  parkings: number
  due_at: number | null
  processed_at: number | null
  outcome: string | null
  /** Operators attribute no event here. */
  readonly attributed_to: null
}

/** The table. */
export class InboxTable {
  readonly rows: Row[] = []
  readonly #open = new Set<Row>()
  readonly #byKey = new Map<string, Row>()
  readonly #byId = new Map<string, Row>()
  readonly #conflicts = new Set<string>()
  readonly #onDealtWith: (reference: string, nowMs: number) => void

  /** @param onDealtWith closes the cases about what an event asserts, by its hash */
  constructor(onDealtWith: (reference: string, nowMs: number) => void) {
    this.#onDealtWith = onDealtWith
  }

  /** What has to be applied yet, and since when. */
  nextDueAt(): number | null {
    let next = Number.POSITIVE_INFINITY
    for (const { due_at } of this.#open) if (due_at !== null && due_at < next) next = due_at
    return next === Number.POSITIVE_INFINITY ? null : next
  }

  /** Whether an event of this key was taken in. */
  has(dedupeKey: string): boolean {
    return this.#byKey.has(dedupeKey)
  }

  /** Its statements. */
  // biome-ignore lint/suspicious/noExplicitAny: each statement has types of its own, which the inbox's store declares.
  get answers(): Readonly<Record<string, (...parameters: any[]) => readonly object[]>> {
    return {
      'inbox.insert': (...given: Inserting) => this.#insert('NEW', given),
      'inbox.insert_conflicts': (...given: Inserting) => this.#insert('CONFLICT', given),
      'inbox.hashes': (keys: readonly string[], now: string, leasedUntil: string) =>
        this.#repeated(keys, Date.parse(now), Date.parse(leasedUntil)),
      'inbox.expedite': (references: readonly string[], now: string) => this.#expedite(references, Date.parse(now)),
      'inbox.claim': (now: string, until: string, limit: number) =>
        this.#claim(Date.parse(now), Date.parse(until), limit),
      'inbox.mark': (...given: Marking) => this.#mark(given),
      'inbox.original': (key: string) => {
        const row = this.#byKey.get(key)
        return row ? [{ done: row.processed_at !== null }] : []
      },
    }
  }

  #insert(
    state: string,
    [inboxIds, ordinals, keys, hashes, dueAt, ids, endpoints, bodies, areProven]: Inserting,
  ): Row[] {
    const callbacks = new Map(
      ids.map((id, at) => [id, { endpoint: endpoints[at], body: bodies[at], isProven: areProven[at] }]),
    )
    return inboxIds.flatMap((inbox_id, at) => {
      const [dedupe_key, content_hash] = [keys[at] as string, hashes[at] as Buffer]
      const contradiction = `${dedupe_key} ${content_hash.toString('hex')}`
      const isKnown = state === 'NEW' ? this.#byKey.has(dedupe_key) : this.#conflicts.has(contradiction)
      const callback = callbacks.get(inbox_id)
      if (isKnown || !callback) return []
      const row: Row = {
        inbox_id,
        ordinal: ordinals[at] as number,
        endpoint: callback.endpoint as string,
        body: callback.body as Buffer,
        is_proven: callback.isProven as boolean,
        dedupe_key,
        content_hash,
        state,
        attempts: 1,
        failures: 0,
        parkings: 0,
        due_at: Date.parse(dueAt),
        processed_at: null,
        outcome: null,
        attributed_to: null,
      }
      this.rows.push(row)
      this.#open.add(row)
      this.#byId.set(`${inbox_id} ${row.ordinal}`, row)
      if (state === 'NEW') this.#byKey.set(dedupe_key, row)
      else this.#conflicts.add(contradiction)
      return [row]
    })
  }

  /** One that is set aside gives up its key. */
  #freeKey(row: Row): void {
    if (row.state === 'CONFLICT') this.#conflicts.delete(`${row.dedupe_key} ${row.content_hash.toString('hex')}`)
    else this.#byKey.delete(row.dedupe_key)
  }

  #repeated(keys: readonly string[], now: number, leasedUntil: number): Row[] {
    const rows = keys.flatMap((key) => this.#byKey.get(key) ?? [])
    for (const row of rows) {
      const isLeased = row.state === 'NEW' && row.due_at !== null && row.due_at > now && row.due_at <= leasedUntil
      if (isLeased) row.due_at = now
    }
    return rows
  }

  #expedite(references: readonly string[], now: number): [] {
    for (const row of this.#open) {
      const isWaiting = row.due_at !== null && row.due_at > now && (row.state === 'PARKED' || row.state === 'CONFLICT')
      if (isWaiting && references.includes(JSON.parse(row.dedupe_key)[2])) row.due_at = now
    }
    return []
  }

  #claim(now: number, until: number, limit: number): Row[] {
    const due = [...this.#open]
      .filter(({ due_at }) => due_at !== null && due_at <= now)
      .sort((one, other) => (one.due_at ?? 0) - (other.due_at ?? 0))
      .slice(0, limit)
    for (const row of due) {
      row.due_at = until
      row.attempts += 1
    }
    return due
  }

  #mark([inboxIds, ordinals, states, outcomes, , failures, parkings, dueAts, now]: Marking): [] {
    for (const [at, inboxId] of inboxIds.entries()) {
      const row = this.#byId.get(`${inboxId} ${ordinals[at]}`)
      const dueAt = dueAts[at] ?? null
      // Whoever comes late reopens nothing that another has dealt with.
      if (!row || (row.processed_at !== null && dueAt !== null)) continue
      const isSetAside = ['QUARANTINED', 'PARKED'].includes(states[at] as string) || outcomes[at] === 'CASE_OPENED'
      if (row.processed_at === null && dueAt === null && isSetAside) this.#freeKey(row)
      if (dueAt === null) this.#open.delete(row)
      if (DEALT_WITH.has(outcomes[at] as string)) this.#onDealtWith(row.content_hash.toString('hex'), Date.parse(now))
      Object.assign(row, {
        state: states[at],
        outcome: outcomes[at],
        failures: failures[at],
        parkings: parkings[at],
        due_at: dueAt,
        processed_at: dueAt === null ? Date.parse(now) : null,
      })
    }
    return []
  }
}

/** After these nothing is left to decide about an event. */
const DEALT_WITH: ReadonlySet<string> = new Set(['APPLIED', 'KNOWN', 'IGNORED', 'ASKED'])

type Inserting = [
  inboxIds: readonly string[],
  ordinals: readonly number[],
  keys: readonly string[],
  hashes: readonly Buffer[],
  dueAt: string,
  ids: readonly string[],
  endpoints: readonly string[],
  bodies: readonly Buffer[],
  areProven: readonly boolean[],
  receivedAt: string,
]

type Marking = [
  inboxIds: readonly string[],
  ordinals: readonly number[],
  states: readonly string[],
  outcomes: readonly string[],
  operationIds: readonly (string | null)[],
  failures: readonly number[],
  parkings: readonly number[],
  dueAts: readonly (number | null)[],
  now: string,
]
