import assert from 'node:assert/strict'
import test from 'node:test'
import pg from 'pg'
import { APPLICATION_ROLE } from '../../../src/platform/db/database.ts'
import { testDatabase } from '../../support/database.ts'

/** What the server may call: each either reads only, or does one thing as the owner and nothing else. */
const CALLED_BY_SERVER = [
  'abandon_batch(uuid)',
  'allowance_used(text,text,integer)',
  'entry_shown(text,text)',
  'erase_callbacks(integer,integer)',
  'erase_deliveries(integer,integer)',
  'erase_ended_operations(integer,integer)',
  'erase_notifications(integer,integer)',
  'forget_alerts()',
  'forget_allowances()',
  'forget_batches()',
  'forget_sessions()',
  'json_or_null(bytea)',
  'matches_audit_trail(credential)',
  'paid_to(text)',
  'person_document(jsonb,jsonb)',
  'person_name(jsonb,jsonb)',
  'plain_name(text)',
  'reseal_signing_key(text,bytea,bytea)',
  'reseal_webhook_secret(uuid,uuid,bytea,bytea)',
  'still_paid(bigint,jsonb)',
]

/** With their caller's rights: a verification needs to read and nothing else. */
const CALLED_BY_ALL = ['entry_shown(text,text)', 'json_or_null(bytea)', 'matches_audit_trail(credential)']

test('[database.10] the server may call these functions of ours, and everybody those that only read as their caller', async (t) => {
  const { url } = await testDatabase(t)
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const { rows } = await client
    .query(
      `SELECT p.oid::regprocedure::text AS name, has_function_privilege('${APPLICATION_ROLE}', p.oid, 'EXECUTE') AS "byServer",
              EXISTS (SELECT FROM aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a WHERE a.grantee = 0) AS "byAll",
              p.prosecdef AS "asOwner"
         FROM pg_proc p WHERE p.pronamespace = 'public'::regnamespace
          AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = p.oid AND d.deptype = 'e')
        ORDER BY 1`,
    )
    .finally(() => client.end())
  assert.deepEqual(
    rows.filter(({ byServer }) => byServer).map(({ name }) => name),
    CALLED_BY_SERVER,
  )
  assert.deepEqual(
    rows.filter(({ byAll, asOwner }) => byAll && !asOwner).map(({ name }) => name),
    CALLED_BY_ALL,
  )
  assert.deepEqual(
    rows.filter(({ byAll, asOwner }) => byAll && asOwner).map(({ name }) => name),
    [],
  )
})
