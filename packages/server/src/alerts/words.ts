import { localTime } from '../platform/sao-paulo.ts'

/** What alerts say, in both languages. Fixed words, ids and days: no names, no texts of people or banks. */

export const alertLanguages = ['pt-BR', 'en'] as const

export type AlertLanguage = (typeof alertLanguages)[number]

/** In the order of the documentation. */
export const alertKinds = [
  'case_opened',
  'payouts_suspended',
  'endpoint_down',
  'bank_away',
  'close_differs',
  'certificate_ends',
  'approval_waiting',
] as const

export type AlertKind = (typeof alertKinds)[number]

interface Texts {
  /** Also the subject of the mail. */
  readonly title: Readonly<Record<AlertKind, (count: number) => string>>
  readonly advice: Readonly<Record<AlertKind, string>>
  readonly case: string
  readonly suspendedBy: Readonly<Record<'operator' | 'trip_wire' | 'restored', string>>
  readonly endpoint: Readonly<Record<'degraded' | 'paused', string>>
  readonly close: (day: string) => string
  readonly certificate: Readonly<Record<'bank' | 'client' | 'authority', (day: string) => string>>
  readonly approval: Readonly<Record<'payout' | 'case', string>>
  readonly more: (count: number) => string
  readonly day: (day: string) => string
  readonly at: (day: string, time: string) => string
}

const pt: Texts = {
  title: {
    case_opened: (count) => (count === 1 ? 'Caso aberto' : `${count} casos abertos`),
    payouts_suspended: () => 'Pagamentos e devoluções suspensos',
    endpoint_down: (count) =>
      count === 1 ? 'Endpoint de webhook com falha' : `${count} endpoints de webhook com falha`,
    bank_away: () => 'O banco não responde',
    close_differs: (count) => (count === 1 ? 'Fechamento com diferença' : `${count} fechamentos com diferença`),
    certificate_ends: (count) =>
      count === 1 ? 'Certificado próximo do vencimento' : `${count} certificados próximos do vencimento`,
    approval_waiting: (count) => (count === 1 ? 'Aprovação pendente' : `${count} aprovações pendentes`),
  },
  advice: {
    case_opened: 'Um operador precisa decidir.',
    payouts_suspended: 'Nenhum novo pagamento ou devolução é enviado até que um operador libere os pagamentos.',
    endpoint_down: 'As notificações ficam retidas. Um endpoint pausado precisa ser retomado por uma pessoa.',
    bank_away: 'As operações que dependem do banco aguardam e são retomadas automaticamente. Nenhuma é perdida.',
    close_differs: 'O saldo no banco diverge do saldo da escrituração, e nenhum caso aberto explica a diferença.',
    certificate_ends: 'Sem um certificado válido, a comunicação com o banco é interrompida.',
    approval_waiting: 'Uma segunda pessoa precisa aprovar ou recusar.',
  },
  case: 'Caso',
  suspendedBy: {
    operator: 'Suspensos por um operador',
    trip_wire: 'Suspensos automaticamente: o extrato do banco diverge da escrituração',
    restored: 'Suspensos automaticamente: o banco de dados foi restaurado',
  },
  endpoint: { degraded: 'Endpoint degradado', paused: 'Endpoint pausado' },
  close: (day) => `Fechamento de ${day}`,
  certificate: {
    bank: (day) => `Certificado do banco, válido até ${day}`,
    client: (day) => `Certificado de cliente (mTLS), válido até ${day}`,
    authority: (day) => `Certificado da última autoridade certificadora (CA) confiável do banco, válido até ${day}`,
  },
  approval: { payout: 'Pagamento', case: 'Proposta de decisão sobre um caso' },
  more: (count) => `e mais ${count}`,
  day: (day) => day.split('-').reverse().join('/'),
  at: (day, time) => `${day}, ${time} (horário de Brasília)`,
}

const en: Texts = {
  title: {
    case_opened: (count) => (count === 1 ? 'Case opened' : `${count} cases opened`),
    payouts_suspended: () => 'Payouts and refunds suspended',
    endpoint_down: (count) => (count === 1 ? 'Webhook endpoint failing' : `${count} webhook endpoints failing`),
    bank_away: () => 'The bank does not answer',
    close_differs: (count) =>
      count === 1 ? 'Daily close with a difference' : `${count} daily closes with a difference`,
    certificate_ends: (count) =>
      count === 1 ? 'Certificate about to expire' : `${count} certificates about to expire`,
    approval_waiting: (count) => (count === 1 ? 'Approval waiting' : `${count} approvals waiting`),
  },
  advice: {
    case_opened: 'An operator has to decide.',
    payouts_suspended: 'No new payout or refund is sent until an operator resumes payouts.',
    endpoint_down: 'Its notifications are held. A paused endpoint has to be resumed by a person.',
    bank_away: 'Operations that need the bank wait and resume automatically. None is lost.',
    close_differs: 'The balance at the bank differs from the books, and no open case explains the difference.',
    certificate_ends: 'Without a valid certificate, calls to the bank fail.',
    approval_waiting: 'A second person has to approve or refuse.',
  },
  case: 'Case',
  suspendedBy: {
    operator: 'Suspended by an operator',
    trip_wire: 'Suspended automatically: the bank’s statement contradicts the books',
    restored: 'Suspended automatically: the database was restored',
  },
  endpoint: { degraded: 'Endpoint degraded', paused: 'Endpoint paused' },
  close: (day) => `Close of ${day}`,
  certificate: {
    bank: (day) => `The bank’s certificate, valid until ${day}`,
    client: (day) => `Client certificate (mTLS), valid until ${day}`,
    authority: (day) => `Certificate of the last authority (CA) trusted for the bank, valid until ${day}`,
  },
  approval: { payout: 'Payout', case: 'Proposed decision about a case' },
  more: (count) => `and ${count} more`,
  day: (day) => day,
  at: (day, time) => `${day} ${time} (Brasília)`,
}

const texts: Readonly<Record<AlertLanguage, Texts>> = { 'pt-BR': pt, en }

/** Alerts of one kind in one message. */
export interface AlertContent {
  readonly kind: AlertKind
  /** The first ones, each in the format of {@link LINES}. */
  readonly subjects: readonly string[]
  /** Of all. */
  readonly count: number
  /** Creation of the message, epoch milliseconds. */
  readonly madeAt: number
}

export interface AlertText {
  readonly title: string
  readonly advice: string
  readonly lines: readonly AlertLine[]
  /** «and 480 more». */
  readonly more: string | undefined
  /** Creation of the message, with its time zone. */
  readonly at: string
  /** Page of the console; `undefined`: it is not served. */
  readonly page: string | undefined
}

export interface AlertLine {
  readonly text: string
  readonly page: string | undefined
}

export interface Wording {
  readonly language: AlertLanguage
  /** Address of the console, without a slash at its end. */
  readonly consoleUrl: string | undefined
}

/** @source rules#alerts.5, rules#alerts.6 */
export function textOf({ kind, subjects, count, madeAt }: AlertContent, { language, consoleUrl }: Wording): AlertText {
  const text = texts[language]
  const pageOf = (path: string) => (consoleUrl === undefined ? undefined : `${consoleUrl}${path}`)
  const { day, time } = localTime(madeAt)
  return {
    title: text.title[kind](count),
    advice: text.advice[kind],
    lines: subjects.flatMap((subject) => {
      const line = LINES[kind](subject.split(' '), text)
      return line ? [{ text: line[0], page: line[1] && pageOf(line[1]) }] : []
    }),
    more: count > subjects.length ? text.more(count - subjects.length) : undefined,
    at: text.at(text.day(day), time.slice(0, 5)),
    page: pageOf(PAGES[kind]),
  }
}

const PAGES: Readonly<Record<AlertKind, string>> = {
  case_opened: '/cases',
  payouts_suspended: '/',
  endpoint_down: '/webhooks',
  bank_away: '/',
  close_differs: '/closes',
  certificate_ends: '/system',
  approval_waiting: '/approvals',
}

/** A line, and its own page. */
type Line = readonly [text: string, path?: string] | undefined

/** Lines of a message, by the parts of a subject, which spaces separate. `FOUND` of alerts.ts and index.ts write them. */
const LINES: Readonly<Record<AlertKind, (parts: readonly string[], text: Texts) => Line>> = {
  /** `<case>` */
  case_opened: ([id = ''], text) => [`${text.case} ${id}`, `/cases/${id}`],
  /** `operator <version>`, `trip_wire <version>` or `restored <version>` */
  payouts_suspended: ([by], text) => {
    const line = lookUp(text.suspendedBy, by)
    return line === undefined ? undefined : [line]
  },
  /** `<endpoint> degraded` or `<endpoint> paused` */
  endpoint_down: ([id = '', state], text) => {
    const line = lookUp(text.endpoint, state)
    return line === undefined ? undefined : [`${line}: ${id}`, `/webhooks/${id}`]
  },
  /** `bank` */
  bank_away: () => undefined,
  /** `2026-12-12` */
  close_differs: ([day = ''], text) => [text.close(text.day(day)), `/closes/${day}`],
  /** `client 2026-12-12 <urgency>`, or with `bank` or `authority` */
  certificate_ends: ([holder, day = ''], text) => {
    const line = lookUp(text.certificate, holder)
    return line === undefined ? undefined : [line(text.day(day))]
  },
  /** `payout <payout>` or `case <case> <proposal>` */
  approval_waiting: ([subject, id = ''], text) => {
    const line = lookUp(text.approval, subject)
    return line === undefined ? undefined : [`${line} ${id}`, `/${subject === 'case' ? 'cases' : 'payments'}/${id}`]
  },
}

function lookUp<Value>(table: Readonly<Record<string, Value>>, name = ''): Value | undefined {
  return table[name]
}
