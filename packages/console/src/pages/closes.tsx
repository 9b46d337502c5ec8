import type { sandboxEndpoints } from '@pixgate/spec'
import { useInfiniteQuery } from '@tanstack/react-query'
import { Link, useLocation } from 'wouter'
import { ApiError, type CloseSummary, call, client, reads } from '../api.ts'
import { dayKey } from '../format.ts'
import { useSession, useWhyNot } from '../session.tsx'
import { Button } from '../ui/controls.tsx'
import { Amount, Badge, dataCss, Table, type Tone } from '../ui/data.tsx'
import { announce, Empty, ErrorNotice, Notice } from '../ui/feedback.tsx'
import { useRowKeys } from '../ui/keys.ts'
import { useSubmit } from '../ui/submit.ts'
import { useFormat, useWords } from '../words/words.tsx'
import css from './detail.module.css'
import listCss from './list.module.css'
import { List } from './list.tsx'

/** The days that are closed, newest first. */
export function Closes() {
  const words = useWords()
  const text = words.closing
  const { hasSimulatedBank } = useSession()
  const list = useInfiniteQuery(reads.closes())
  const rows = list.data?.pages.flatMap(({ data }) => data) ?? []
  useRowKeys()
  return (
    <>
      <header className={listCss.head}>
        <h1>{words.nav.closes}</h1>
        {hasSimulatedBank && list.data && <CloseToday lastDay={rows[0]?.id} />}
      </header>
      <div className={css.page}>
        <List
          list={list}
          isEmpty={rows.length === 0}
          empty={<Empty title={text.none}>{hasSimulatedBank ? text.noneInSandbox : text.noneHint}</Empty>}
        >
          <Rows rows={rows} />
        </List>
      </div>
    </>
  )
}

const TONES = { BALANCED: 'ok', EXPLAINED: 'wait', DIFFERS: 'bad', UNCONFIRMED: 'calm' } as const satisfies Record<
  CloseSummary['status'],
  Tone
>

export function CloseBadge({ status }: Pick<CloseSummary, 'status'>) {
  const words = useWords()
  return <Badge tone={TONES[status]}>{words.closes[status]}</Badge>
}

function Rows({ rows }: { readonly rows: readonly CloseSummary[] }) {
  const words = useWords()
  const text = words.closing
  const format = useFormat()
  return (
    <Table
      caption={words.nav.closes}
      columns={[
        [text.day],
        [text.books, 'wide-end'],
        [text.bank, 'wide-end'],
        [text.difference, 'wide-end'],
        [words.state],
      ]}
    >
      {rows.map(({ id, status, booksCents, bank, differenceCents }) => (
        <tr key={id}>
          <td>
            <Link href={`/closes/${id}`} className={dataCss.rowLink ?? ''} data-row="">
              {format.day(`${id}T12:00:00Z`)}
            </Link>
            <span className={dataCss.narrow}>
              <span className={css.quiet}>
                {text.difference}: {differenceCents === null ? '–' : <Amount cents={differenceCents} />}
              </span>
            </span>
          </td>
          <td data-kind="wide-end">
            <Amount cents={booksCents} />
          </td>
          <td data-kind="wide-end">{bank === null ? '–' : <Amount cents={bank.closingCents} />}</td>
          <td data-kind="wide-end">{differenceCents === null ? '–' : <Amount cents={differenceCents} />}</td>
          <td>
            <CloseBadge status={status} />
          </td>
        </tr>
      ))}
    </Table>
  )
}

/** Of the simulated bank's sandbox: the day ends now. */
function CloseToday({ lastDay }: { readonly lastDay: string | undefined }) {
  const words = useWords()
  const text = words.closing
  const whyNot = useWhyNot('operator')
  const [, navigate] = useLocation()
  const { mutate, error, isPending } = useSubmit({
    mutationFn: () => call<(typeof sandboxEndpoints)['closeToday']>('POST', '/operator/sandbox/close'),
    onSuccess: ({ id }) => {
      announce(text.closedToday)
      navigate(`/closes/${id}`)
      return client.invalidateQueries({ predicate: ({ queryKey: [kind] }) => /^(closes|overview)$/.test(String(kind)) })
    },
  })
  const isClosed = lastDay === dayKey(Date.now())
  const isTooSoon = error instanceof ApiError && error.code === 'not_possible_in_state'
  return (
    <>
      <Button isBusy={isPending} whyNot={isClosed ? text.isClosed : whyNot} onClick={() => mutate()}>
        {text.closeToday}
      </Button>
      {error && (
        <div className={listCss.wide}>
          {isTooSoon ? <Notice tone="wait">{text.closeTodayHint}</Notice> : <ErrorNotice error={error} />}
        </div>
      )}
    </>
  )
}
