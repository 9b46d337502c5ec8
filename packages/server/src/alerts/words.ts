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

interface Words {
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

const pt: Words = {
  title: {
    case_opened: (count) => (count === 1 ? 'Caso aberto' : `${count} casos abertos`),
    payouts_suspended: () => 'Pagamentos e devoluções suspensos',
    endpoint_down: (count) =>
      count === 1 ? 'Endpoint de webhook com falha' : `${count} endpoints de webhook com falha`,
    bank_away: () => 'O banco não responde',
    close_differs: (count) => (count === 1 ? 'Fechamento com diferença' : `${count} fechamentos com diferença`),
    certificate_ends: (count) => (count === 1 ? 'Certificado a vencer' : `${count} certificados a vencer`),
    approval_waiting: (count) => (count === 1 ? 'Aprovação pendente' : `${count} aprovações pendentes`),
  },
  advice: {
    case_opened: 'Um operador precisa decidir.',
    payouts_suspended: 'Nada sai da conta até que um operador religue o interruptor de pagamentos.',
    endpoint_down: 'As notificações ficam retidas. Um endpoint pausado precisa ser retomado por uma pessoa.',
    bank_away: 'O que depende do banco espera e continua quando ele voltar. Nada se perde.',
    close_differs: 'O saldo no banco é outro que o da escrituração, e nenhum caso aberto explica a diferença.',
    certificate_ends: 'Sem um certificado válido, o banco não pode mais ser chamado.',
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
    client: (day) => `Nosso certificado para o banco, válido até ${day}`,
    authority: (day) => `Última autoridade certificadora aceita para o banco, válida até ${day}`,
  },
  approval: { payout: 'Pagamento', case: 'Proposta de decisão sobre um caso' },
  more: (count) => `e mais ${count}`,
  day: (day) => day.split('-').reverse().join('/'),
  at: (day, time) => `${day}, ${time} (horário de Brasília)`,
}

const en: Words = {
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
    payouts_suspended: 'No money leaves until an operator turns the kill switch on again.',
    endpoint_down: 'Its notifications are held. A paused endpoint has to be resumed by a person.',
    bank_away: 'Work that needs the bank waits, and continues when it is back. Nothing is lost.',
    close_differs: 'The balance at the bank is not that of the books, and no open case explains the difference.',
    certificate_ends: 'Without a valid certificate the bank can no longer be called.',
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
    client: (day) => `Our certificate for the bank, valid until ${day}`,
    authority: (day) => `The last authority that is trusted for the bank, valid until ${day}`,
  },
  approval: { payout: 'Payout', case: 'Proposed decision about a case' },
  more: (count) => `and ${count} more`,
  day: (day) => day,
  at: (day, time) => `${day} ${time} (Brasília)`,
}

const words: Readonly<Record<AlertLanguage, Words>> = { 'pt-BR': pt, en }

/** Alerts of one kind in one message. */
export interface AlertContent {
  readonly kind: AlertKind
  /** The first ones. */
  readonly subjects: readonly string[]
  /** Of all. */
  readonly count: number
  readonly madeAt: number
}

export interface AlertText {
  readonly title: string
  readonly advice: string
  readonly lines: readonly AlertLine[]
  /** «and 480 more». */
  readonly more: string | undefined
  /** When it was noticed. */
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
  const said = words[language]
  const pageOf = (path: string) => (consoleUrl === undefined ? undefined : `${consoleUrl}${path}`)
  const { day, time } = localTime(madeAt)
  return {
    title: said.title[kind](count),
    advice: said.advice[kind],
    lines: subjects.flatMap((subject) => {
      const line = LINES[kind](subject.split(' '), said)
      return line ? [{ text: line[0], page: line[1] && pageOf(line[1]) }] : []
    }),
    more: count > subjects.length ? said.more(count - subjects.length) : undefined,
    at: said.at(said.day(day), time.slice(0, 5)),
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

/** What a subject says, by the words it is made of: see `FOUND` of alerts.ts. */
const LINES: Readonly<Record<AlertKind, (subject: readonly string[], said: Words) => Line>> = {
  case_opened: ([id = ''], said) => [`${said.case} ${id}`, `/cases/${id}`],
  payouts_suspended: ([by], said) => {
    const text = lookUp(said.suspendedBy, by)
    return text === undefined ? undefined : [text]
  },
  endpoint_down: ([id = '', state], said) => {
    const text = lookUp(said.endpoint, state)
    return text === undefined ? undefined : [`${text}: ${id}`, `/webhooks/${id}`]
  },
  bank_away: () => undefined,
  close_differs: ([day = ''], said) => [said.close(said.day(day)), `/closes/${day}`],
  certificate_ends: ([of, day = ''], said) => {
    const text = lookUp(said.certificate, of)
    return text === undefined ? undefined : [text(said.day(day))]
  },
  approval_waiting: ([of, id = ''], said) => {
    const text = lookUp(said.approval, of)
    return text === undefined ? undefined : [`${text} ${id}`, `/${of === 'case' ? 'cases' : 'payments'}/${id}`]
  },
}

function lookUp<Value>(table: Readonly<Record<string, Value>>, name = ''): Value | undefined {
  return table[name]
}
