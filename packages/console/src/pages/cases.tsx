import { useInfiniteQuery } from '@tanstack/react-query'
import { Link, useSearchParams } from 'wouter'
import { type CaseSummary, reads } from '../api.ts'
import { Button, Choice, Select } from '../ui/controls.tsx'
import { Ago, Amount, dataCss, Table, When } from '../ui/data.tsx'
import { Empty } from '../ui/feedback.tsx'
import { useRowKeys } from '../ui/keys.ts'
import { Said, useWords } from '../words/words.tsx'
import css from './list.module.css'
import { List } from './list.tsx'

/** What the service cannot decide by itself: the open cases, oldest first, or the closed ones. */
export function Cases() {
  const words = useWords()
  const [params, setParams] = useSearchParams()
  const state = params.get('state') === 'closed' ? 'closed' : 'open'
  const kind = params.get('kind') ?? ''
  const set = (next: Readonly<Record<string, string>>) => {
    const given = Object.entries({ state, kind, ...next }).filter(([, value]) => value !== '' && value !== 'open')
    setParams(new URLSearchParams(given), { replace: true })
  }
  const list = useInfiniteQuery(reads.cases({ state, kind }))
  const rows = list.data?.pages.flatMap(({ data }) => data) ?? []
  useRowKeys()
  return (
    <>
      <h1>{words.nav.cases}</h1>
      <div className={css.filters}>
        <Choice
          label={words.state}
          value={state}
          options={[
            ['open', words.cases.open],
            ['closed', words.cases.closed],
          ]}
          onChange={(next) => set({ state: next })}
        />
        <div className={css.selects}>
          <Select aria-label={words.kind} value={kind} onChange={({ target }) => set({ kind: target.value })}>
            <option value="">{words.cases.anyKind}</option>
            {Object.entries(words.caseKinds).map(([name, text]) => (
              <option key={name} value={name}>
                {text}
              </option>
            ))}
          </Select>
        </div>
      </div>
      <List
        list={list}
        isEmpty={rows.length === 0}
        empty={
          <Empty
            title={state === 'open' ? words.cases.none : words.cases.noneClosed}
            action={kind && <Button onClick={() => set({ kind: '' })}>{words.clearFilters}</Button>}
          >
            {state === 'open' ? words.cases.noneHint : undefined}
          </Empty>
        }
      >
        <Rows rows={rows} />
      </List>
    </>
  )
}

function Rows({ rows }: { readonly rows: readonly CaseSummary[] }) {
  const words = useWords()
  const kinds: Readonly<Record<string, string>> = words.caseKinds
  return (
    <Table
      caption={words.nav.cases}
      columns={[[words.cases.what], [words.cases.opened, 'wide'], [words.amount, 'end']]}
    >
      {rows.map((row) => (
        <tr key={row.id}>
          <td>
            <Link href={`/cases/${row.id}`} className={dataCss.rowLink ?? ''} data-row="">
              {kinds[row.kind] ?? row.kind}
            </Link>
            <span className={`${dataCss.sub} ${css.meaning}`}>
              <Said text={row.meaning} />
            </span>
            <span className={dataCss.sub}>{row.operation?.externalId}</span>
            <span className={dataCss.narrow}>
              <span className={css.small}>{row.closedAt ? <When at={row.closedAt} /> : <Ago at={row.openedAt} />}</span>
            </span>
          </td>
          <td data-kind="wide">{row.closedAt ? <When at={row.closedAt} /> : <Ago at={row.openedAt} />}</td>
          <td data-kind="end">{row.amountCents === null ? '–' : <Amount cents={row.amountCents} />}</td>
        </tr>
      ))}
    </Table>
  )
}
