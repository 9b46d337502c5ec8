import { useInfiniteQuery } from '@tanstack/react-query'
import type { FormEvent } from 'react'
import { Link } from 'wouter'
import { type OperationKind, type OperationSummary, type Query, reads } from '../api.ts'
import { amountText, centsOf, dayKey, daysBefore } from '../format.ts'
import { useSession } from '../session.tsx'
import { isOutgoing, OperationBadge, statesOf, stateText } from '../states.tsx'
import { Button, Choice, Field, Input, Select, useDraft } from '../ui/controls.tsx'
import { Amount, dataCss, Table, When } from '../ui/data.tsx'
import { Empty } from '../ui/feedback.tsx'
import { useRowKeys } from '../ui/keys.ts'
import { useFormat, useWords } from '../words/words.tsx'
import { saveCsv } from './csv.ts'
import css from './list.module.css'
import { List } from './list.tsx'
import { type Filters, MORE_FILTERS, NO_FILTERS, PERIODS, useFilters } from './payment-filters.ts'
import { useViews, ViewButton, ViewSelect } from './payment-views.tsx'

/** Charges, payouts, refunds and adjustments in one list; its filters are in the address. */

const KINDS: readonly OperationKind[] = ['cash_in', 'cash_out', 'refund_in', 'adjustment']

export function Payments() {
  const words = useWords()
  const [filters, set] = useFilters()
  const list = useInfiniteQuery(reads.operations(filters as Query))
  const rows = list.data?.pages.flatMap(({ data }) => data) ?? []
  const isFiltered = Object.keys(filters).length > 0
  const isEmpty = list.data !== undefined && rows.length === 0
  const saveRows = useCsv(rows)
  useRowKeys()
  return (
    <>
      <header className={css.head}>
        <h1>{words.nav.payments}</h1>
        {!isEmpty && (
          <Button icon="download" onClick={saveRows}>
            {words.payments.csv}
          </Button>
        )}
      </header>
      {(isFiltered || !isEmpty) && <FilterBar filters={filters} set={set} />}
      <List
        list={list}
        isEmpty={rows.length === 0}
        empty={<NoRows isFiltered={isFiltered} clear={() => set(NO_FILTERS)} />}
        lines={9}
      >
        <Rows rows={rows} />
      </List>
    </>
  )
}

function NoRows({ isFiltered, clear }: { readonly isFiltered: boolean; readonly clear: () => void }) {
  const words = useWords()
  const { hasSimulatedBank } = useSession()
  return isFiltered ? (
    <Empty title={words.payments.noMatch} action={<Button onClick={clear}>{words.clearFilters}</Button>}>
      {words.payments.noMatchHint}
    </Empty>
  ) : (
    <Empty
      title={words.payments.none}
      action={hasSimulatedBank && <Link href="/sandbox">{words.sandbox.tell.choose}</Link>}
    >
      {words.payments.noneHint}
    </Empty>
  )
}

function Rows({ rows }: { readonly rows: readonly OperationSummary[] }) {
  const words = useWords()
  return (
    <Table
      caption={words.nav.payments}
      columns={[[words.who], [words.kind, 'wide'], [words.when, 'wide'], [words.state, 'wide'], [words.amount, 'end']]}
    >
      {rows.map((row) => (
        <tr key={row.id}>
          <td>
            <Link href={`/payments/${row.id}`} className={dataCss.rowLink ?? ''} data-row="">
              {row.name ?? words.kinds[row.kind]}
            </Link>
            <span className={dataCss.sub}>{row.externalId}</span>
            <span className={dataCss.narrow}>
              <OperationBadge operation={row} />
              <span className={css.small}>
                {words.kinds[row.kind]} · <When at={row.createdAt} />
              </span>
            </span>
          </td>
          <td data-kind="wide">{words.kinds[row.kind]}</td>
          <td data-kind="wide">
            <When at={row.createdAt} />
          </td>
          <td data-kind="wide">
            <OperationBadge operation={row} />
          </td>
          <td data-kind="end">
            <Amount cents={isOutgoing(row) ? -row.valueCents : row.valueCents} />
          </td>
        </tr>
      ))}
    </Table>
  )
}

/** Writes the rows that are loaded as a file. */
function useCsv(rows: readonly OperationSummary[]): () => void {
  const words = useWords()
  const format = useFormat()
  return () => {
    if (rows.length === 0) return
    const { columns } = words.payments
    const head = Object.values(columns)
    const lines = rows.map((row) => [
      format.day(row.createdAt),
      format.time(row.createdAt),
      words.kinds[row.kind],
      stateText(row, words),
      row.name ?? '',
      row.document ?? '',
      row.pixKey ?? '',
      amountText(isOutgoing(row) ? -row.valueCents : row.valueCents),
      amountText(row.feeCents),
      row.externalId,
      row.endToEndId ?? '',
      row.settledAt ? format.moment(row.settledAt) : '',
      row.description ?? '',
      row.id,
    ])
    saveCsv(`pixgate-${dayKey(Date.now())}.csv`, [head, ...lines])
  }
}

interface FilterProps {
  readonly filters: Filters
  readonly set: (next: Filters) => void
}

function FilterBar({ filters, set }: FilterProps) {
  const words = useWords()
  const text = words.payments
  const kind = KINDS.find((name) => name === filters.kind)
  const today = dayKey(Date.now())
  const period = Object.entries(PERIODS).find(
    ([, days]) => filters.from === daysBefore(today, days) && !filters.to,
  )?.[0]
  const views = useViews(filters)
  const isOpen = !views.current && MORE_FILTERS.some((name) => filters[name])
  return (
    <div className={css.filters}>
      <Choice
        label={words.kind}
        value={kind ?? 'all'}
        options={[['all', words.all], ...KINDS.map((name) => [name, words.kindsMany[name]] as const)]}
        onChange={(next) => set({ kind: next === 'all' ? '' : next, status: '' })}
      />
      <div className={css.selects}>
        <ViewSelect views={views} set={set} />
        <Select
          aria-label={words.state}
          value={filters.status ?? ''}
          onChange={({ target }) => set({ status: target.value })}
        >
          <option value="">{text.anyState}</option>
          {statesOf(kind, words).map(([status, name]) => (
            <option key={status} value={status}>
              {name}
            </option>
          ))}
        </Select>
        <Select
          aria-label={text.period}
          value={period ?? (filters.from || filters.to ? 'other' : '')}
          onChange={({ target }) => {
            const days = PERIODS[target.value as keyof typeof PERIODS]
            if (target.value !== 'other') set({ from: days === undefined ? '' : daysBefore(today, days), to: '' })
          }}
        >
          <option value="">{text.anyPeriod}</option>
          <option value="today">{text.today}</option>
          <option value="week">{text.week}</option>
          <option value="month">{text.month}</option>
          {!period && (filters.from || filters.to) && <option value="other">{text.other}</option>}
        </Select>
        <ViewButton views={views} filters={filters} />
      </div>
      <details className={css.moreFilters} open={isOpen}>
        <summary>{text.moreFilters}</summary>
        <MoreFilters filters={filters} set={set} />
      </details>
    </div>
  )
}

/** As they are typed: amounts in reais. */
function draftOf(filters: Filters): Filters {
  const shown = (cents: string | undefined) => (cents === undefined ? '' : amountText(Number(cents)))
  return { ...filters, min_cents: shown(filters.min_cents), max_cents: shown(filters.max_cents) }
}

/** Applied together: each change of the address is a request, and one of a document leaves an audit row. */
function MoreFilters({ filters, set }: FilterProps) {
  const words = useWords()
  const text = words.payments
  const [draft, setDraft] = useDraft(draftOf(filters))
  const input = (name: keyof Filters, more: { type?: string; maxLength?: number; inputMode?: 'decimal' } = {}) => ({
    ...more,
    value: draft[name] ?? '',
    onChange: ({ target }: { target: { value: string } }) => setDraft({ ...draft, [name]: target.value }),
  })
  const wrong = (name: 'min_cents' | 'max_cents') =>
    draft[name] && centsOf(draft[name]) === undefined ? words.amountWrong : undefined
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (wrong('min_cents') || wrong('max_cents')) return
    const cents = (text: string | undefined) => (text ? String(centsOf(text)) : '')
    set({ ...NO_FILTERS, ...draft, min_cents: cents(draft.min_cents), max_cents: cents(draft.max_cents) })
  }
  return (
    <form className={css.form} onSubmit={submit}>
      <Field label={text.from}>{(props) => <Input {...props} {...input('from', { type: 'date' })} />}</Field>
      <Field label={text.to}>{(props) => <Input {...props} {...input('to', { type: 'date' })} />}</Field>
      <Field label={text.paidFrom}>{(props) => <Input {...props} {...input('paid_from', { type: 'date' })} />}</Field>
      <Field label={text.paidTo}>{(props) => <Input {...props} {...input('paid_to', { type: 'date' })} />}</Field>
      <Field label={text.min} error={wrong('min_cents')}>
        {(props) => <Input {...props} {...input('min_cents', { inputMode: 'decimal' })} placeholder="0,00" />}
      </Field>
      <Field label={text.max} error={wrong('max_cents')}>
        {(props) => <Input {...props} {...input('max_cents', { inputMode: 'decimal' })} placeholder="0,00" />}
      </Field>
      <Field label={text.document} hint={text.audited}>
        {(props) => <Input {...props} {...input('document', { maxLength: 18 })} />}
      </Field>
      <Field label={text.key} hint={text.audited}>
        {(props) => <Input {...props} {...input('key', { maxLength: 77 })} />}
      </Field>
      <div className={css.formButtons}>
        <Button type="submit" look="primary">
          {words.apply}
        </Button>
        <Button look="quiet" onClick={() => set(NO_FILTERS)}>
          {words.clearFilters}
        </Button>
      </div>
    </form>
  )
}
