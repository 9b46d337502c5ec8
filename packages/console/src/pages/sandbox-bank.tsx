import type { BankBook, sandboxEndpoints } from '@pixgate/spec'
import { useMutation, useQueries, useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { Link } from 'wouter'
import { type BankBehavior, call, client, type OperationSummary, type Overview, reads } from '../api.ts'
import { useWhyNot } from '../session.tsx'
import { isOutgoing, OperationBadge } from '../states.tsx'
import { Button, Field, IconButton, Select } from '../ui/controls.tsx'
import { Amount, dataCss, Facts, Table, When } from '../ui/data.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { announce, Empty, ErrorNotice, Waiting } from '../ui/feedback.tsx'
import { useSubmit } from '../ui/submit.ts'
import { useWords, type Words } from '../words/words.tsx'
import css from './sandbox.module.css'

/** The simulated bank: what waits there, how it behaves, and its book. */

type ActName = keyof Words['sandbox']['acts']

interface Act {
  readonly path: (operation: OperationSummary) => string
  readonly body?: (operation: OperationSummary) => object
  readonly times?: number
}

const MORE_CENTS = 50_00

const chargeControl = (verb: string) => (operation: OperationSummary) => `cash-in/${operation.id}/${verb}`
const orderControl = (verb: string) => (operation: OperationSummary) =>
  `${operation.kind === 'cash_out' ? 'cash-out' : 'refund-in'}/${operation.id}/${verb}`
const exactly = ({ valueCents }: OperationSummary) => ({ valueCents })

const ACTS: Readonly<Record<ActName, Act>> = {
  pay: { path: chargeControl('pay'), body: exactly },
  payTwice: { path: chargeControl('pay'), body: exactly, times: 2 },
  payMore: { path: chargeControl('pay'), body: ({ valueCents }) => ({ valueCents: valueCents + MORE_CENTS }) },
  failCharge: { path: chargeControl('fail') },
  payAgain: { path: chargeControl('pay'), body: exactly },
  med: { path: chargeControl('return'), body: exactly },
  confirm: { path: orderControl('confirm') },
  failOrder: { path: orderControl('fail') },
  sendBack: { path: orderControl('reverse'), body: () => ({}) },
}

/** The first one is offered in the list. */
const OFFERED: Readonly<Record<string, readonly ActName[]>> = {
  'cash_in PENDING': ['pay', 'payTwice', 'payMore', 'failCharge'],
  'cash_in PROVIDER_RESULT_UNKNOWN': ['pay', 'failCharge'],
  'cash_in PAID': ['payAgain', 'med'],
  'cash_out DISPATCHED': ['confirm', 'failOrder'],
  'cash_out PROVIDER_RESULT_UNKNOWN': ['confirm', 'failOrder'],
  'cash_out CONFIRMED': ['sendBack'],
  'refund_in PENDING': ['confirm', 'failOrder'],
}

const WAITING = [
  ['cash_in', 'PENDING'],
  ['cash_in', 'PROVIDER_RESULT_UNKNOWN'],
  ['cash_out', 'DISPATCHED'],
  ['cash_out', 'PROVIDER_RESULT_UNKNOWN'],
  ['refund_in', 'PENDING'],
] as const

const SHOWN_MAX = 8

function useAct(onDone?: () => void) {
  const words = useWords()
  return useSubmit({
    mutationFn: async ({ name, operation }: { name: ActName; operation: OperationSummary }) => {
      const { path, body, times = 1 } = ACTS[name]
      for (let time = 0; time < times; time++) {
        await call<(typeof sandboxEndpoints)['payCashIn']>('POST', `/operator/sandbox/${path(operation)}`, {
          ...(body && { body: body(operation) }),
        })
      }
      return name
    },
    onSuccess: (name) => {
      announce(words.sandbox.acts[name].done)
      onDone?.()
      return client.invalidateQueries()
    },
  })
}

export function Work({ newCharge }: { readonly newCharge: ReactNode }) {
  const words = useWords()
  const text = words.sandbox.work
  const lists = useQueries({ queries: WAITING.map(([kind, status]) => reads.newest({ kind, status })) })
  const newest = useQuery(reads.newest({}))
  const waiting = lists.flatMap(({ data }) => data?.data ?? [])
  const isWaiting = ({ kind, status }: OperationSummary) =>
    WAITING.some(([ofKind, inState]) => ofKind === kind && inState === status)
  const recent = (newest.data?.data ?? []).filter((row) => OFFERED[`${row.kind} ${row.status}`] && !isWaiting(row))
  const isLoaded = lists.every(({ data }) => data !== undefined)
  const error = [...lists, newest].find(({ error }) => error)?.error
  return (
    <section aria-labelledby="work" className={css.section}>
      <header className={css.sectionHead}>
        <div>
          <h2 id="work">{text.title}</h2>
          <p className={css.quiet}>{text.hint}</p>
        </div>
        {newCharge}
      </header>
      {error && <ErrorNotice error={error} />}
      {!error && !isLoaded && <Waiting lines={3} />}
      {isLoaded && waiting.length === 0 && (
        <p>
          {text.none}. {text.noneHint}
        </p>
      )}
      {waiting.length > 0 && <Rows caption={text.waiting} rows={waiting} />}
      {recent.length > 0 && <Rows caption={text.recent} rows={recent} />}
    </section>
  )
}

interface RowsProps {
  readonly caption: string
  readonly rows: readonly OperationSummary[]
}

function Rows({ caption, rows }: RowsProps) {
  const words = useWords()
  const text = words.sandbox.work
  return (
    <div>
      <h3 className={css.listTitle}>{caption}</h3>
      <Table
        caption={caption}
        columns={[[words.who], [words.state, 'wide'], [words.amount, 'wide-end'], [text.at, 'end']]}
      >
        {rows.slice(0, SHOWN_MAX).map((row) => (
          <Row key={row.id} row={row} />
        ))}
      </Table>
      {rows.length > SHOWN_MAX && (
        <p className={css.allLink}>
          <Link href="/payments">{text.all}</Link>
        </p>
      )}
    </div>
  )
}

function Row({ row }: { readonly row: OperationSummary }) {
  const words = useWords()
  const text = words.sandbox
  const whyNot = useWhyNot('operator')
  const [isOpen, setIsOpen] = useState(false)
  const { mutate, error, isPending } = useAct()
  const [first, ...others] = OFFERED[`${row.kind} ${row.status}`] ?? []
  const name = row.name ?? row.externalId
  return (
    <tr>
      <td>
        <Link href={`/payments/${row.id}`}>{name}</Link>
        <span className={dataCss.sub}>
          {words.kinds[row.kind]} · <When at={row.createdAt} />
        </span>
        <span className={dataCss.narrow}>
          <OperationBadge operation={row} />
          <Amount cents={isOutgoing(row) ? -row.valueCents : row.valueCents} />
        </span>
        {error && <ErrorNotice error={error} />}
      </td>
      <td data-kind="wide">
        <OperationBadge operation={row} />
      </td>
      <td data-kind="wide-end">
        <Amount cents={isOutgoing(row) ? -row.valueCents : row.valueCents} />
      </td>
      <td data-kind="end">
        {whyNot === undefined && first && (
          <div className={css.rowActs}>
            <Button isBusy={isPending} onClick={() => mutate({ name: first, operation: row })}>
              {text.acts[first].name}
            </Button>
            {others.length > 0 && (
              <IconButton icon="more" label={text.work.moreOf(name)} onClick={() => setIsOpen(true)} />
            )}
          </div>
        )}
        {isOpen && <ActsDialog operation={row} names={[first, ...others]} onClose={() => setIsOpen(false)} />}
      </td>
    </tr>
  )
}

interface ActsDialogProps {
  readonly operation: OperationSummary
  readonly names: readonly (ActName | undefined)[]
  readonly onClose: () => void
}

function ActsDialog({ operation, names, onClose }: ActsDialogProps) {
  const words = useWords()
  const text = words.sandbox
  const { mutate, error, isPending } = useAct(onClose)
  return (
    <Dialog title={text.work.at} isLight onClose={onClose}>
      <p>
        {words.kinds[operation.kind]} <Amount cents={operation.valueCents} /> · {operation.name ?? operation.externalId}
      </p>
      <ul className={css.acts}>
        {names.map(
          (name) =>
            name && (
              <li key={name}>
                <button
                  type="button"
                  className={css.story}
                  aria-disabled={isPending || undefined}
                  onClick={() => mutate({ name, operation })}
                >
                  <span className={css.storyTitle}>{text.acts[name].name}</span>
                  <span className={css.quiet}>{text.acts[name].hint}</span>
                </button>
              </li>
            ),
        )}
      </ul>
      {error && <ErrorNotice error={error} />}
    </Dialog>
  )
}

const ORDERS = ['auto', 'manual', 'fail', 'reject', 'timeout', 'lost-response'] as const

const GOOD: BankBehavior = {
  cashIn: 'answer',
  cashOut: 'auto',
  refundIn: 'auto',
  latencyMs: 0,
  eventDelayMs: 0,
  eventCopies: 1,
  eventsShuffled: false,
}

const DELAYS = [0, 300, 1_000, 5_000, 30_000]
const COPIES = [1, 2, 3, 5]

export function Behavior() {
  const words = useWords()
  const text = words.sandbox.behavior
  const { queryKey } = reads.bankBehavior()
  const { data, error, refetch } = useQuery(reads.bankBehavior())
  const whyNot = useWhyNot('operator')
  const change = useMutation({
    // One after the other: a change that is asked for while another runs is not lost.
    scope: { id: 'behavior' },
    mutationFn: (body: Partial<BankBehavior>) =>
      call<(typeof sandboxEndpoints)['changeBankBehavior']>('PUT', '/operator/sandbox/behavior', { body }),
    // At once: a list that shows the old value meanwhile cannot be gone through with arrows.
    onMutate: (body) => client.setQueryData(queryKey, (before) => before && { ...before, ...body }),
    onSuccess: () => announce(text.changed),
    onError: () => client.invalidateQueries({ queryKey }),
  })
  const isGood = data && Object.entries(GOOD).every(([name, value]) => data[name as keyof BankBehavior] === value)
  return (
    <section aria-labelledby="behavior" className={css.section}>
      <header>
        <h2 id="behavior">{text.title}</h2>
        <p className={css.quiet}>{text.hint}</p>
      </header>
      {error && <ErrorNotice error={error} onRetry={() => refetch()} />}
      {!error && !data && <Waiting lines={4} />}
      {data && <BehaviorFields behavior={data} isOff={whyNot !== undefined} change={change.mutate} />}
      {change.error && <ErrorNotice error={change.error} />}
      {data && (
        <div>
          <Button whyNot={whyNot ?? (isGood ? text.isGood : undefined)} onClick={() => change.mutate(GOOD)}>
            {text.good}
          </Button>
        </div>
      )}
    </section>
  )
}

interface BehaviorFieldsProps {
  readonly behavior: BankBehavior
  readonly isOff: boolean
  readonly change: (change: Partial<BankBehavior>) => void
}

function BehaviorFields({ behavior, isOff, change }: BehaviorFieldsProps) {
  const words = useWords()
  const text = words.sandbox.behavior
  const answers = (names: readonly (keyof typeof text.answers)[]) =>
    names.map((name) => [name, text.answers[name]] as const)
  const numbers = (values: readonly number[], now: number, say: (value: number) => string) =>
    [...new Set([...values, now])]
      .sort((one, other) => one - other)
      .map((value) => [String(value), say(value)] as const)
  const delay = (ms: number) => (ms === 0 ? text.none : text.ms(ms))
  const fields = [
    ['cashIn', answers(['answer', 'reject', 'timeout', 'lost-response'])],
    ['cashOut', answers(ORDERS)],
    ['refundIn', answers(ORDERS)],
    ['latencyMs', numbers(DELAYS, behavior.latencyMs, delay)],
    ['eventDelayMs', numbers(DELAYS, behavior.eventDelayMs, delay)],
    ['eventCopies', numbers(COPIES, behavior.eventCopies, (count) => (count === 1 ? text.once : text.times(count)))],
    ['eventsShuffled', Object.entries(text.shuffled)],
  ] as const
  return (
    <div className={css.fields}>
      {fields.map(([name, options]) => (
        <Field key={name} label={text[name]}>
          {(props) => (
            <Select
              {...props}
              disabled={isOff}
              value={String(behavior[name])}
              onChange={({ target }) => change({ [name]: typedLike(behavior[name], target.value) })}
            >
              {options.map(([value, option]) => (
                <option key={value} value={value}>
                  {option}
                </option>
              ))}
            </Select>
          )}
        </Field>
      ))}
    </div>
  )
}

/** The chosen text as the type that the field has. */
function typedLike(now: string | number | boolean, chosen: string): string | number | boolean {
  if (typeof now === 'number') return Number(chosen)
  return typeof now === 'boolean' ? chosen === 'true' : chosen
}

const LOOK_AGAIN_MS = 2_000

/** The account at the bank, as the bank sees it. */
function inBooksOf(overview: Overview | undefined): number | undefined {
  const settlement = overview?.accounts.find(({ account }) => account === 'settlement')?.balanceCents
  return settlement === undefined ? undefined : -settlement
}

export function Book() {
  const words = useWords()
  const text = words.sandbox.book
  const { data, error, refetch } = useQuery(reads.bankBook())
  const { data: overview } = useQuery({
    ...reads.overview(),
    // It is two seconds old at most: a difference is looked at again until both are of the same moment.
    refetchInterval: ({ state }) => (data && inBooksOf(state.data) !== data.balanceCents ? LOOK_AGAIN_MS : false),
  })
  const inBooks = inBooksOf(overview)
  return (
    <section aria-labelledby="book" className={css.section}>
      <h2 id="book">{text.title}</h2>
      {error && <ErrorNotice error={error} onRetry={() => refetch()} />}
      {!error && !data && <Waiting lines={4} />}
      {data && (
        <Facts
          facts={[
            [text.atBank, <Amount key="bank" cents={data.balanceCents} />],
            [text.inBooks, inBooks !== undefined && <Amount cents={inBooks} />],
            [text.difference, inBooks !== undefined && <Amount cents={data.balanceCents - inBooks} isSigned />],
            [text.pendingEvents, String(data.pendingEvents)],
          ]}
        />
      )}
      {data && data.entries.length === 0 && <Empty title={text.none}>{text.noneHint}</Empty>}
      {data && data.entries.length > 0 && <Movements entries={data.entries} />}
    </section>
  )
}

/** Each with a link to the charge or payout that it moved, where that is among the newest. */
function Movements({ entries }: { readonly entries: BankBook['entries'] }) {
  const words = useWords()
  const text = words.sandbox.book
  const { data } = useQuery(reads.newest({}))
  const ids = new Map(
    data?.data.flatMap(({ endToEndId, id, kind }) =>
      endToEndId !== null && kind !== 'refund_in' ? [[endToEndId, id] as const] : [],
    ),
  )
  return (
    <Table
      caption={text.title}
      columns={[[words.kind], [words.when, 'wide'], [words.payment.facts.endToEndId, 'wide'], [words.amount, 'end']]}
    >
      {entries.map(({ kind, endToEndId, returnId, valueCents, occurredAt }) => (
        <tr key={`${kind} ${returnId ?? endToEndId}`}>
          <td>
            {ids.has(endToEndId) ? (
              <Link href={`/payments/${ids.get(endToEndId)}`}>{text.kinds[kind]}</Link>
            ) : (
              text.kinds[kind]
            )}
            <span className={dataCss.narrow}>
              <When at={occurredAt} />
            </span>
          </td>
          <td data-kind="wide">
            <When at={occurredAt} />
          </td>
          <td data-kind="wide">
            <code>{returnId ?? endToEndId}</code>
          </td>
          <td data-kind="end">
            <Amount cents={valueCents} isSigned />
          </td>
        </tr>
      ))}
    </Table>
  )
}
