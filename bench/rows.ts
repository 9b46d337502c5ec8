import type pg from 'pg'
import { type Measured, measureCost } from './cost.ts'
import type { Living } from './lives.ts'
import { NOBODY_SAW } from './measure.ts'

/**
 * What the rows of payouts cost PostgreSQL alone: those of payouts that were lived are written once more, into tables with the same
 * columns, indexes and constraints. Nothing is decided, locked or compared, no trigger runs, and nobody polls; balances, allowances,
 * fences and the feed's end are not written. It says what a payout would cost PostgreSQL if everything else that Pixgate asks of it cost
 * nothing.
 */

/** The schema of the tables that are written; those that were are in `public`. */
const ALONE = 'alone'

const TABLES = [
  ...['operation', 'move', 'entry', 'movement', 'notification'],
  ...['delivery', 'delivery_attempt', 'inbox', 'inbox_event'],
] as const

type Table = (typeof TABLES)[number]

/** Payouts of a statement: about as many as a batch of the service has of 64 callers. */
const BATCH = 24

const PAYOUTS = 4_008

/** Payouts that are not counted. */
const WARM_UP = 1_008

/** Rows of these payouts. */
const OF_THEM = 'operation_id = ANY ($1::uuid[])'
const THEMSELVES = 'id = ANY ($1::uuid[])'
const NOTIFIED = `notification_id IN (SELECT id FROM notification WHERE ${OF_THEM})`
const ATTEMPTED = `delivery_id IN (SELECT id FROM delivery WHERE ${NOTIFIED})`
const TOLD = `id IN (SELECT inbox_id FROM inbox_event WHERE ${OF_THEM})`

/** A part of a statement, which depends on the columns that a table has. */
type Write = (columnsOf: (table: Table) => readonly string[]) => string

/** @param before what columns are at first, where that is not what they became; what is not known of them is left out */
function added(table: Table, which: string, before: Readonly<Record<string, string>> = {}): Write {
  return (columnsOf) => {
    const columns = columnsOf(table)
    const values = columns.map((column) => before[column] ?? column)
    return `INSERT INTO ${ALONE}.${table} (${columns}) SELECT ${values} FROM ${table} WHERE ${which}`
  }
}

/** The rows as they became. */
function changed(table: Table, which: string, key: readonly string[] = ['id']): Write {
  return (columnsOf) => {
    const columns = columnsOf(table).filter((column) => !key.includes(column))
    return `UPDATE ${ALONE}.${table} row SET (${columns}) = ROW (${columns.map((column) => `became.${column}`)})
              FROM (SELECT * FROM ${table} WHERE ${which}) AS became
             WHERE ${key.map((column) => `row.${column} = became.${column}`).join(' AND ')}`
  }
}

const UNSENT = { status: `'DISPATCHED'`, version: '2', facts: `'{}'`, transaction_id: 'NULL', end_to_end_id: 'NULL' }

/** All that is written of payouts, in its order: what one statement of the service writes is one here. */
const STATEMENTS: readonly (readonly Write[])[] = [
  // Made, and claimed for sending.
  [
    added('operation', THEMSELVES, { ...UNSENT, due_at: 'created_at' }),
    added('move', `${OF_THEM} AND version <= 2`),
    added('entry', `${OF_THEM} AND journal = 'cash_out_reserved'`),
  ],
  // Accepted by the bank.
  [
    () => `UPDATE ${ALONE}.operation row SET version = 3, transaction_id = became.transaction_id, due_at = became.updated_at
             FROM operation became WHERE became.${THEMSELVES} AND row.id = became.id`,
    added('move', `${OF_THEM} AND version = 3`),
  ],
  // The bank's event is received.
  [
    added('inbox', TOLD),
    added('inbox_event', OF_THEM, {
      state: `'NEW'`,
      operation_id: 'NULL',
      processed_at: 'NULL',
      due_at: 'processed_at',
    }),
  ],
  // It confirms them.
  [
    changed('operation', THEMSELVES),
    added('move', `${OF_THEM} AND version > 3`),
    added('entry', `${OF_THEM} AND journal <> 'cash_out_reserved'`),
    added('movement', OF_THEM),
    added('notification', OF_THEM, { fanned_out_at: 'NULL', position: 'NULL' }),
  ],
  // Fanned out, and claimed.
  [changed('notification', OF_THEM), added('delivery', NOTIFIED, { state: `'PENDING'`, finished_at: 'NULL' })],
  // Delivered.
  [changed('delivery', NOTIFIED), added('delivery_attempt', ATTEMPTED)],
  // The event is marked.
  [changed('inbox_event', OF_THEM, ['inbox_id', 'ordinal'])],
]

/**
 * Writes the rows of payouts that a service has lived once more, and measures that. The service is stopped for it.
 * @returns `undefined` where it has lived too few
 */
export async function measureRows({ pixgate, watched }: Living): Promise<Measured | undefined> {
  await pixgate.stop()
  const client = await pixgate.database.connect()
  try {
    const ids = await payoutsIn(client)
    if (ids.length < WARM_UP + PAYOUTS) return undefined
    const texts = await prepare(client)
    // Else whoever reads a row first notes in it, and in the log, that it was committed.
    await client.query('VACUUM')
    await client.query('CHECKPOINT')
    await writeAll(client, texts, ids.slice(0, WARM_UP))
    await client.query('ANALYZE')
    return await measureCost(watched, PAYOUTS, async () => {
      const startedAt = performance.now()
      await writeAll(client, texts, ids.slice(WARM_UP))
      return { ...NOBODY_SAW, perSecond: (PAYOUTS * 1_000) / (performance.now() - startedAt) }
    })
  } finally {
    client.release()
  }
}

/** Makes the tables. @returns the statements that write a batch */
async function prepare(client: pg.ClientBase): Promise<readonly string[]> {
  await client.query(`CREATE SCHEMA ${ALONE}`)
  const columns = new Map<Table, readonly string[]>()
  for (const table of TABLES) {
    const [options] = await textsOf(client, OPTIONS, table)
    await client.query(
      `CREATE TABLE ${ALONE}.${table} (LIKE ${table} INCLUDING ALL) ${options ? `WITH (${options})` : ''}`,
    )
    columns.set(table, await textsOf(client, COLUMNS, table))
  }
  // Reading what is written shall cost as little as it can.
  await client.query('CREATE INDEX ON movement (operation_id)')
  return STATEMENTS.map((writes) => {
    const parts = writes.map((write, place) => `part${place} AS (${write((table) => columns.get(table) ?? [])})`)
    return `WITH ${parts.join(', ')} SELECT`
  })
}

const OPTIONS = `SELECT coalesce(array_to_string(reloptions, ', '), '') AS text FROM pg_class WHERE oid = $1::regclass`
const COLUMNS = `SELECT attname AS text FROM pg_attribute
                  WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum`

async function textsOf(client: pg.ClientBase, query: string, value: unknown): Promise<readonly string[]> {
  return (await client.query<{ text: string }>(query, [value])).rows.map(({ text }) => text)
}

async function payoutsIn(client: pg.ClientBase): Promise<readonly string[]> {
  const newest = `SELECT id AS text FROM operation WHERE kind = 'cash_out' AND status = 'CONFIRMED' ORDER BY id DESC LIMIT $1`
  return (await textsOf(client, newest, WARM_UP + PAYOUTS)).toReversed()
}

async function writeAll(client: pg.ClientBase, texts: readonly string[], ids: readonly string[]): Promise<void> {
  for (let first = 0; first < ids.length; first += BATCH) {
    const batch = ids.slice(first, first + BATCH)
    for (const [place, text] of texts.entries()) await client.query({ name: `rows.${place}`, text, values: [batch] })
  }
}
