import type { TestContext } from 'node:test'
import { type AlertsNeeds, createAlertsModule } from '../../src/alerts/index.ts'
import type { AlertKind } from '../../src/alerts/words.ts'
import { type Database, statement } from '../../src/platform/db/database.ts'
import { capturedLog, type Line } from '../support/captured-log.ts'
import { administer, openTestDatabase, testDatabase } from '../support/database.ts'
import { type Answering, type Receiver, startReceiver } from '../support/webhook-receiver.ts'
import { type SmtpServer, startSmtpServer } from './smtp-server.ts'

/** Names, documents, keys and free texts that are in what alerts are about. */
export const CANARIES = [
  'Sabiá Laranjeira',
  '11144477735',
  'sabia@laranjeira.example',
  'texto-livre-do-operador',
] as const

const [NAME, DOCUMENT, PIX_KEY, TEXT] = CANARIES

export const CASE_ID = '0193a000-0000-7000-8000-000000000001'
export const ENDPOINT_ID = '0193a000-0000-7000-8000-000000000002'
export const PAYOUT_ID = '0193a000-0000-7000-8000-000000000003'
const OPERATOR_ID = '0193a000-0000-7000-8000-000000000004'
const PROPOSAL_ID = '0193a000-0000-7000-8000-000000000005'
const OTHER_CASE_ID = '0193a000-0000-7000-8000-000000000006'

export const NOW = Date.parse('2026-11-22T13:00:00Z')

const OPEN_CASE = (id: string, kind: string) =>
  `INSERT INTO "case" (id, kind, reference, facts, amount_cents, opened_at)
   VALUES ('${id}', '${kind}', '${id}', '{"payerName": "${NAME}", "payerDocument": "${DOCUMENT}"}', 100, now())`

/** What makes each alert that the database knows of, with the data of a person around it. */
export const CAUSES: Readonly<Record<Exclude<AlertKind, 'bank_away' | 'certificate_ends'>, string>> = {
  case_opened: OPEN_CASE(CASE_ID, 'outcome_unknown'),
  payouts_suspended: `UPDATE control SET version = version + 1, value = '{"enabled": false, "reason": "${TEXT}"}'
    WHERE name = 'cash_out_switch'`,
  endpoint_down: `INSERT INTO endpoint (id, url, events, created_at, since, state, reason)
    VALUES ('${ENDPOINT_ID}', 'https://loja.example/${PIX_KEY}', '{}', now(), now(), 'paused', 'gone')`,
  close_differs: `INSERT INTO daily_close (day, made_at, content)
    VALUES ('2026-11-21', '2026-11-22T12:00:00Z', '{"status": "DIFFERS", "note": "${TEXT}"}')`,
  approval_waiting: `SET session_replication_role = replica;
    INSERT INTO operation (id, kind, external_id, order_id, status, version, value_cents, fee_cents, correlation_id, body_hash,
                           detail, facts, created_at, updated_at)
    VALUES ('${PAYOUT_ID}', 'cash_out', '${TEXT}', md5('1'), 'RESERVED', 1, 100, 0, '', '',
            '{"recipient": {"name": "${NAME}", "document": "${DOCUMENT}", "pixKey": "${PIX_KEY}"}}', '{"approval": {}}',
            now(), now());
    INSERT INTO credential (id, kind, name, hash, display, created_at, role)
    VALUES ('${OPERATOR_ID}', 'operator', '${NAME}', '', '', now(), 'operator');
    ${OPEN_CASE(OTHER_CASE_ID, 'adjustment_requested')};
    INSERT INTO case_step (id, case_id, step, operator_id, operator_name, content, case_version, amount_cents, body_hash, answer, at)
    VALUES ('${PROPOSAL_ID}', '${OTHER_CASE_ID}', 'proposed', '${OPERATOR_ID}', '${NAME}', '{"reason": "${TEXT}"}', '1', 100,
            '', '{}', now());
    RESET session_replication_role`,
}

export interface AlertsWorld {
  readonly url: string
  readonly database: Database
  readonly smtp: SmtpServer
  readonly chat: Receiver
  readonly alerts: ReturnType<typeof createAlertsModule>
  readonly lines: readonly Line[]
  /** Runs SQL as the owner. */
  because(sql: string): Promise<void>
  /** Puts the clock forward. */
  later(ms: number): void
  /** Does what is due, all of it. */
  work(process?: Pick<AlertsWorld['alerts'], 'steps'>): Promise<void>
  /** Another process on the same database, at the same time. */
  process(changes?: Partial<AlertsNeeds>): AlertsWorld['alerts']
  /** Texts that the chat got. */
  chatTexts(): string[]
  /** Kinds of the alerts, in order. */
  kinds(): Promise<string[]>
}

export interface AlertsOptions extends Partial<Pick<AlertsNeeds, 'consoleUrl'>> {
  readonly language?: 'pt-BR' | 'en'
  readonly to?: readonly string[]
  readonly answer?: Answering
}

/** The module on a real database, with a mail server and a chat, and a clock that only the test moves. */
export async function alertsWorld(t: TestContext, options: AlertsOptions = {}): Promise<AlertsWorld> {
  const { language = 'pt-BR', to = ['plantao@loja.example'], consoleUrl = 'https://pix.loja.example/console' } = options
  const { url, database } = await testDatabase(t)
  const smtp = await startSmtpServer(t)
  const chat = await startReceiver(t, options.answer)
  const { logger, lines } = capturedLog()
  let now = NOW
  const needs: AlertsNeeds = {
    database,
    clock: { now: () => now },
    logger,
    settings: {
      email: { smtpUrl: `smtp://127.0.0.1:${smtp.port}`, from: 'pixgate@loja.example', to },
      webhooks: [{ kind: 'slack', url: chat.url }],
      language,
    },
    consoleUrl,
    isProduction: true,
    allowPrivate: true,
    allowedNetworks: [],
    observer: { onAttempt: () => undefined },
  }
  const create = (changes: Partial<AlertsNeeds>) => {
    const module = createAlertsModule({ ...needs, ...changes })
    t.after(() => module.close())
    return module
  }
  const alerts = create({})
  return {
    ...{ url, database, smtp, chat, alerts, lines },
    because: (sql) => administer(url, sql),
    later: (ms) => {
      now += ms
    },
    work: async ({ steps } = alerts) => {
      const channels = steps.map(async (step) => {
        while (await step());
      })
      await Promise.all(channels)
    },
    process: (changes = {}) => {
      if (changes.database) return create(changes)
      const pool = openTestDatabase(url)
      t.after(() => pool.close())
      return create({ ...changes, database: pool })
    },
    chatTexts: () => chat.received.map(({ body }) => JSON.parse(String(body)).text),
    kinds: () => alertKindsIn(database),
  }
}

const selectKinds = statement<[], { kind: string }>(
  'test.alert_kinds',
  'SELECT kind FROM alert ORDER BY at, kind, subject',
)

/** Kinds of the alerts, in order. */
export async function alertKindsIn(database: Database): Promise<string[]> {
  return (await database.rows(selectKinds, [])).map(({ kind }) => kind)
}

const selectMessages = statement<[], { attempts: number; isSent: boolean; isDue: boolean }>(
  'test.alert_messages',
  `SELECT attempts, sent_at IS NOT NULL AS "isSent", due_at IS NOT NULL AS "isDue" FROM alert_message
    ORDER BY made_at, channel`,
)

/** Messages, in order. */
export function messagesIn(database: Database) {
  return database.rows(selectMessages, [])
}
