import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { createDatabaseClock } from '../../packages/server/src/platform/clock.ts'
import { createIds, type Ids } from '../../packages/server/src/platform/ids.ts'
import { compete } from '../contestant.ts'
import { payout, VALUE_CENTS } from './reserve.ts'

/**
 * Baseline without HTTP: writes the same rows with one transaction per request, which locks the balance, checks it, and
 * sends one statement after the other.
 */

const CONNECTIONS = 64

const LOCK = 'SELECT version, balance_cents FROM account WHERE id IN (1, 2) ORDER BY id FOR UPDATE'

const INSERT_OPERATION = `
  INSERT INTO operation (id, kind, external_id, order_id, status, version, value_cents, fee_cents, correlation_id, body_hash,
                         due_at, detail, facts, created_at, updated_at)
  VALUES ($1, $2, $3, $4, $5, 1, $6, 0, $7, $8, $9, $10, $11, $9, $9)`

const INSERT_MOVE = `
  INSERT INTO move (operation_id, version, kind, trigger, from_status, to_status, facts, batch_id, at)
  VALUES ($1, 1, $2, 'create', NULL, $3, $4, $5, $6)`

const INSERT_ENTRIES = `
  INSERT INTO entry (account_id, version, amount_cents, balance_after_cents, operation_id, journal, reference, posting,
                     shown, at)
  VALUES (1, $1, -$3::bigint, $2, $6, 'cash_out_reserved', '', 0, 'CASH_OUT_RESERVE', $7),
         (2, $4, $3, $5, $6, 'cash_out_reserved', '', 1, NULL, $7)`

const UPDATE_ACCOUNTS = `
  UPDATE account SET version = version + 1, balance_cents = balance_cents + CASE id WHEN 1 THEN -$1::bigint ELSE $1 END
   WHERE id IN (1, 2)`

/** @returns a function that creates a payout in a funded database */
export function openTransactions(url: string): () => Promise<void> {
  const pool = new pg.Pool({ connectionString: url, max: CONNECTIONS, options: '-c role=pixgate_app' })
  const ids = createIds(createDatabaseClock())
  return () => reserve(pool, ids)
}

async function reserve(pool: pg.Pool, ids: Ids): Promise<void> {
  const { id, kind, externalId, orderId, status, correlationId, bodyHash, dueAt, detail, facts } = payout(ids.uuid())
  const at = new Date(dueAt ?? 0)
  const client = await pool.connect()
  const run = (name: string, text: string, values: unknown[] = []) => client.query({ name, text, values })

  await run('begin', 'BEGIN')
  const [available, reserved] = (await run('lock', LOCK)).rows.map(accountOf)
  if (!available || !reserved || available.balanceCents < VALUE_CENTS) throw new Error('insufficient balance')
  await run('operation', INSERT_OPERATION, [
    ...[id, kind, externalId, orderId, status, VALUE_CENTS, correlationId, bodyHash, at, detail, facts],
  ])
  await run('move', INSERT_MOVE, [id, kind, status, facts, randomUUID(), at])
  await run('entries', INSERT_ENTRIES, [
    ...[available.version + 1n, available.balanceCents - VALUE_CENTS, VALUE_CENTS],
    ...[reserved.version + 1n, reserved.balanceCents + VALUE_CENTS, id, at],
  ])
  await run('accounts', UPDATE_ACCOUNTS, [VALUE_CENTS])
  await run('commit', 'COMMIT')
  client.release()
}

function accountOf({ version, balance_cents }: { version: string; balance_cents: string }) {
  return { version: BigInt(version), balanceCents: BigInt(balance_cents) }
}

if (import.meta.main) compete(openTransactions(process.argv[2] as string))
