import type { AccountCode } from '@pixgate/spec'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { Link, useSearchParams } from 'wouter'
import { type LedgerLine, reads } from '../api.ts'
import { dayKey } from '../format.ts'
import { Button, Field, Input, useDraft } from '../ui/controls.tsx'
import { dataCss, Facts, Sided, Table, When } from '../ui/data.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { CopyText, Empty, ErrorNotice } from '../ui/feedback.tsx'
import { useRowKeys } from '../ui/keys.ts'
import { Said, useWords } from '../words/words.tsx'
import css from './detail.module.css'
import { List } from './list.tsx'

/** The ledger: the balances of the accounts, and an account entry by entry. */

const FILTERS = ['from', 'to', 'operation'] as const

type Filters = Readonly<Record<(typeof FILTERS)[number], string>>

const NO_FILTERS: Filters = { from: '', to: '', operation: '' }

export function Ledger() {
  const words = useWords()
  const text = words.ledger
  const [params, setParams] = useSearchParams()
  const named = params.get('account') ?? ''
  const account = Object.hasOwn(words.accounts, named) ? (named as AccountCode) : 'available'
  const filters = Object.fromEntries(FILTERS.map((name) => [name, params.get(name) ?? ''])) as Filters
  const set = (next: Partial<Filters>) => {
    const given = Object.entries({ account, ...filters, ...next }).filter(([, value]) => value !== '')
    setParams(new URLSearchParams(given), { replace: true })
  }
  useRowKeys()
  return (
    <>
      <h1>{words.nav.ledger}</h1>
      <div className={css.page}>
        <Accounts account={account} filters={filters} />
        <section aria-labelledby="entries" className={css.section}>
          <h2 id="entries">{text.entriesOf(words.accounts[account])}</h2>
          <p className={css.meaning}>{text.meanings[account]}</p>
          <FilterBar filters={filters} set={set} />
          <Entries account={account} filters={filters} clear={() => set(NO_FILTERS)} />
        </section>
      </div>
    </>
  )
}

interface AccountsProps {
  readonly account: AccountCode
  readonly filters: Filters
}

function Accounts({ account, filters }: AccountsProps) {
  const words = useWords()
  const { data, error, refetch } = useQuery(reads.overview())
  if (error && !data) return <ErrorNotice error={error} onRetry={() => refetch()} />
  const balances = new Map(data?.accounts.map(({ account, balanceCents }) => [account, balanceCents]))
  const given = Object.entries(filters).filter(([, value]) => value !== '')
  return (
    <nav aria-label={words.ledger.accounts}>
      <ul className={css.accounts}>
        {(Object.keys(words.accounts) as AccountCode[]).map((code) => {
          const cents = balances.get(code)
          return (
            <li key={code}>
              <Link
                href={`/ledger?${new URLSearchParams([['account', code], ...given])}`}
                replace
                className={css.account ?? ''}
                aria-current={code === account ? 'true' : undefined}
              >
                <span>{words.accounts[code]}</span>
                {cents === undefined ? <span>{'\u2007'}</span> : <Sided cents={cents} />}
              </Link>
            </li>
          )
        })}
      </ul>
    </nav>
  )
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

interface FilterProps {
  readonly filters: Filters
  readonly set: (next: Partial<Filters>) => void
}

function FilterBar({ filters, set }: FilterProps) {
  const words = useWords()
  const text = words.ledger
  const [draft, setDraft] = useDraft(filters)
  const today = dayKey(Date.now())
  const isPeriodWrong = draft.from !== '' && draft.to !== '' && draft.to < draft.from
  const isIdWrong = draft.operation.trim() !== '' && !UUID.test(draft.operation.trim())
  const input = (name: keyof Filters) => ({
    value: draft[name],
    onChange: ({ target }: { target: { value: string } }) => setDraft({ ...draft, [name]: target.value }),
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (!isPeriodWrong && !isIdWrong) set({ ...draft, operation: draft.operation.trim() })
  }
  return (
    <form className={css.period} onSubmit={submit}>
      <Field label={words.statement.from}>
        {(props) => <Input {...props} type="date" max={today} {...input('from')} />}
      </Field>
      <Field label={words.statement.to} error={isPeriodWrong ? words.statement.periodWrong : undefined}>
        {(props) => <Input {...props} type="date" max={today} {...input('to')} />}
      </Field>
      <div className={css.wide}>
        <Field label={words.webhooks.operationId} error={isIdWrong ? words.webhooks.operationIdWrong : undefined}>
          {(props) => <Input {...props} maxLength={36} {...input('operation')} />}
        </Field>
      </div>
      <Button type="submit">{words.apply}</Button>
      {Object.values(filters).some((value) => value !== '') && (
        <Button look="quiet" onClick={() => set(NO_FILTERS)}>
          {text.clear}
        </Button>
      )}
    </form>
  )
}

interface EntriesProps extends AccountsProps {
  readonly clear: () => void
}

function Entries({ account, filters: { from, to, operation }, clear }: EntriesProps) {
  const words = useWords()
  const text = words.ledger
  const list = useInfiniteQuery(reads.entries({ account, from, to, operation_id: operation }))
  const rows = list.data?.pages.flatMap(({ data }) => data) ?? []
  const isFiltered = `${from}${to}${operation}` !== ''
  return (
    <List
      list={list}
      isEmpty={rows.length === 0}
      empty={
        <Empty
          title={isFiltered ? text.noMatch : text.none}
          action={isFiltered && <Button onClick={clear}>{words.clearFilters}</Button>}
        >
          {isFiltered ? text.noMatchHint : text.noneHint}
        </Empty>
      }
      lines={9}
    >
      <Rows rows={rows} account={account} />
    </List>
  )
}

function Rows({ rows, account }: { readonly rows: readonly LedgerLine[]; readonly account: AccountCode }) {
  const words = useWords()
  const text = words.ledger
  const [openVersion, setOpenVersion] = useState<number>()
  const open = rows.find(({ version }) => version === openVersion)
  return (
    <>
      <Table
        caption={text.entriesOf(words.accounts[account])}
        columns={[
          [text.entry],
          [words.when, 'wide'],
          [text.counterpart, 'wide'],
          [words.amount, 'end'],
          [words.balance, 'wide-end'],
        ]}
      >
        {rows.map((row) => (
          <Line key={row.version} line={row} account={account} onOpen={() => setOpenVersion(row.version)} />
        ))}
      </Table>
      {open && <JournalDialog line={open} onClose={() => setOpenVersion(undefined)} />}
    </>
  )
}

interface LineProps {
  readonly line: LedgerLine
  readonly account: AccountCode
  readonly onOpen: () => void
}

function Line({ line, account, onOpen }: LineProps) {
  const words = useWords()
  const text = words.ledger
  const counterparts = counterpartsOf(line, account).map((code) => words.accounts[code])
  return (
    <tr>
      <td>
        <button type="button" className={`${dataCss.rowLink} ${css.said}`} data-row="" onClick={onOpen}>
          <Said text={line.meaning ?? line.journal} />
        </button>
        <span className={dataCss.sub}>
          {line.shown !== null && `${text.names[line.shown]} · `}
          {operationText(line)}
        </span>
        <span className={dataCss.narrow}>
          <span className={css.quiet}>
            <When at={line.at} />
          </span>
          <span className={css.quiet}>
            {text.balanceAfter} <Sided cents={line.balanceAfterCents} />
          </span>
        </span>
      </td>
      <td data-kind="wide">
        <When at={line.at} />
      </td>
      <td data-kind="wide" className={css.quiet}>
        {counterparts.join(', ')}
      </td>
      <td data-kind="end">
        <Sided cents={line.amountCents} />
      </td>
      <td data-kind="wide-end">
        <Sided cents={line.balanceAfterCents} />
      </td>
    </tr>
  )
}

function operationText({ operation, operationId }: LedgerLine): string {
  return operation?.name ?? operation?.externalId ?? operationId
}

function counterpartsOf({ entries }: LedgerLine, account: AccountCode): AccountCode[] {
  return [...new Set(entries.map(({ account: code }) => code))].filter((code) => code !== account)
}

/** Both sides of a journal, and the operation that it is of. */
function JournalDialog({ line, onClose }: { readonly line: LedgerLine; readonly onClose: () => void }) {
  const words = useWords()
  const text = words.ledger
  const { at, journal, meaning, reference, operation, operationId, entries } = line
  return (
    <Dialog title={text.journal} isLight onClose={onClose}>
      <div className={css.inside}>
        <p className={css.said}>
          <Said text={meaning ?? journal} />
        </p>
        <Table
          caption={text.sides}
          columns={[[words.account], [words.amount, 'end'], [words.timeline.balanceAfter, 'end']]}
        >
          {entries.map(({ account, amountCents, balanceAfterCents }, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: entries never move
            <tr key={index}>
              <td>{words.accounts[account]}</td>
              <td data-kind="end">
                <Sided cents={amountCents} />
              </td>
              <td data-kind="end">
                <Sided cents={balanceAfterCents} />
              </td>
            </tr>
          ))}
        </Table>
        <Facts
          facts={[
            [text.bookedAt, <When key="at" at={at} as="moment" />],
            [text.template, <code key="journal">{journal}</code>],
            [
              words.cases.operation,
              operation && (
                <Link href={`/payments/${operationId}`}>
                  {words.kinds[operation.kind]} {operation.externalId}
                </Link>
              ),
            ],
            [words.cases.reference, reference !== '' && <CopyText text={reference} />],
          ]}
        />
      </div>
    </Dialog>
  )
}
