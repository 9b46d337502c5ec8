import { useInfiniteQuery } from '@tanstack/react-query'
import type { FormEvent } from 'react'
import { useSearchParams } from 'wouter'
import { type AuditRow, reads } from '../api.ts'
import { Button, Input, Select, useDraft } from '../ui/controls.tsx'
import { dataCss, KeptFacts, Table, When } from '../ui/data.tsx'
import { CopyText, Empty } from '../ui/feedback.tsx'
import { useWords } from '../words/words.tsx'
import css from './administration.module.css'
import listCss from './list.module.css'
import { List } from './list.tsx'

const FILTERS = ['actor', 'action', 'subject'] as const

type Filters = Readonly<Record<(typeof FILTERS)[number], string>>

const NO_FILTERS: Filters = { actor: '', action: '', subject: '' }

/** Who did what, when and from where; the filters are in the address. */
export function Audit() {
  const words = useWords()
  const text = words.audit
  const [params, setParams] = useSearchParams()
  const filters = Object.fromEntries(FILTERS.map((name) => [name, params.get(name) ?? ''])) as Filters
  const set = (next: Partial<Filters>) => {
    const given = Object.entries({ ...filters, ...next }).filter(([, value]) => value !== '')
    setParams(new URLSearchParams(given), { replace: true })
  }
  const list = useInfiniteQuery(reads.audit({ ...filters }))
  const rows = list.data?.pages.flatMap(({ data }) => data) ?? []
  const isFiltered = Object.values(filters).some((value) => value !== '')
  return (
    <>
      <h1>{words.nav.audit}</h1>
      <FilterBar filters={filters} set={set} />
      <List
        list={list}
        isEmpty={rows.length === 0}
        empty={
          <Empty
            title={isFiltered ? text.noMatch : text.none}
            action={isFiltered && <Button onClick={() => set(NO_FILTERS)}>{words.clearFilters}</Button>}
          >
            {isFiltered ? text.noMatchHint : text.noneHint}
          </Empty>
        }
        lines={9}
        more={isFiltered ? text.searchOn : words.loadMore}
      >
        <Rows rows={rows} />
      </List>
    </>
  )
}

interface FilterBarProps {
  readonly filters: Filters
  readonly set: (next: Partial<Filters>) => void
}

function FilterBar({ filters, set }: FilterBarProps) {
  const words = useWords()
  const text = words.audit
  const [subject, setSubject] = useDraft(filters.subject)
  const people = useInfiniteQuery(reads.operators())
  const names = people.data?.pages.flatMap(({ data }) => data.map(({ id, name }) => [id, name] as const)) ?? []
  const actors = [...names, ...Object.entries(text.actors)]
  const isKnown = filters.actor === '' || actors.some(([id]) => id === filters.actor)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    set({ subject: subject.trim() })
  }
  return (
    <form onSubmit={submit} className={listCss.filters}>
      <div className={listCss.selects}>
        <Select aria-label={words.who} value={filters.actor} onChange={({ target }) => set({ actor: target.value })}>
          <option value="">{text.anyone}</option>
          {!isKnown && <option value={filters.actor}>{filters.actor}</option>}
          {actors.map(([id, name]) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </Select>
        <Select aria-label={text.what} value={filters.action} onChange={({ target }) => set({ action: target.value })}>
          <option value="">{text.anyAction}</option>
          {Object.entries(text.actions).map(([name, action]) => (
            <option key={name} value={name}>
              {action}
            </option>
          ))}
        </Select>
      </div>
      <div className={listCss.selects}>
        <Input
          aria-label={text.subject}
          placeholder={text.subject}
          maxLength={64}
          value={subject}
          onChange={({ target }) => setSubject(target.value)}
        />
      </div>
    </form>
  )
}

function Rows({ rows }: { readonly rows: readonly AuditRow[] }) {
  const words = useWords()
  const text = words.audit
  return (
    <Table
      caption={words.nav.audit}
      columns={[[text.what], [words.who, 'wide'], [text.from, 'wide'], [words.when, 'end']]}
    >
      {rows.map((row) => (
        <Row key={row.id} row={row} />
      ))}
    </Table>
  )
}

function Row({ row }: { readonly row: AuditRow }) {
  const words = useWords()
  const text = words.audit
  const actions: Readonly<Record<string, string>> = text.actions
  const actors: Readonly<Record<string, string>> = text.actors
  const who = row.actorName ?? actors[row.actor] ?? row.actor
  return (
    <tr>
      <td className={css.what}>
        {actions[row.action] ?? <code>{row.action}</code>}
        <span className={dataCss.narrow}>
          <span className={listCss.small}>
            {who}
            {row.address && ` · ${row.address}`}
          </span>
        </span>
        <details className={css.facts}>
          <summary>{text.facts}</summary>
          <div className={css.section}>
            <p className={css.quiet}>
              <code>{row.action}</code> · {text.subject}: <CopyText text={row.subject} />
            </p>
            <KeptFacts value={row.facts} />
          </div>
        </details>
      </td>
      <td data-kind="wide">{who}</td>
      <td data-kind="wide">
        <span className={dataCss.when}>{row.address}</span>
      </td>
      <td data-kind="end">
        <When at={row.at} />
      </td>
    </tr>
  )
}
