import { useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { Link } from 'wouter'
import { type Reconciliation, reads } from '../api.ts'
import { dayKey } from '../format.ts'
import { Button, Field, Input } from '../ui/controls.tsx'
import { Ago, Amount, Badge, dataCss, Facts, Table, type Tone, When } from '../ui/data.tsx'
import { Empty, ErrorNotice, Waiting } from '../ui/feedback.tsx'
import { useRowKeys } from '../ui/keys.ts'
import { useSubmit } from '../ui/submit.ts'
import { useFormat, useWords } from '../words/words.tsx'
import { saveFile } from './csv.ts'
import css from './detail.module.css'

/** The bank's statement beside the books. */
export function Statement() {
  const words = useWords()
  const { data, error, refetch } = useQuery({ ...reads.reconciliation(), refetchInterval: READ_EVERY_MS })
  useRowKeys()
  return (
    <>
      <h1>{words.nav.statement}</h1>
      {error && !data && <ErrorNotice error={error} onRetry={() => refetch()} />}
      {!error && !data && <Waiting lines={9} />}
      {data && <Loaded data={data} />}
    </>
  )
}

/** The server reads the statement each minute, without a change of an operation. */
const READ_EVERY_MS = 30_000

function Loaded({ data }: { readonly data: Reconciliation }) {
  const words = useWords()
  const text = words.statement
  return (
    <div className={css.page}>
      {data.hasStatement ? <Reading data={data} /> : <Empty title={text.notOffered}>{text.notOfferedHint}</Empty>}
      <Balances data={data} />
      <Differences differences={data.differences} />
      <Export />
    </div>
  )
}

/** Beyond this time without a reading something is wrong. */
const LATE_MS = 15 * 60_000

function standingOf({ readAt, isReading }: Reconciliation): [Tone, 'never' | 'late' | 'reading' | 'ok'] {
  if (readAt === null) return ['calm', isReading ? 'reading' : 'never']
  if (Date.now() - Date.parse(readAt) > LATE_MS) return ['bad', 'late']
  return ['ok', 'ok']
}

function Reading({ data }: { readonly data: Reconciliation }) {
  const words = useWords()
  const format = useFormat()
  const text = words.statement
  const [tone, standing] = standingOf(data)
  const { readAt, readUntil, readFrom, nextAt, isReading, unbooked, missing } = data
  const tally = ({ count, oldestAt }: Reconciliation['unbooked']) => (
    <>
      {format.count(count)}
      {oldestAt && (
        <span className={css.quiet}>
          {' '}
          · {text.oldest} <Ago at={oldestAt} />
        </span>
      )}
    </>
  )
  return (
    <section aria-labelledby="reading" className={css.section}>
      <div className={css.title}>
        <h2 id="reading">{text.reading}</h2>
        <Badge tone={tone}>{text.standings[standing]}</Badge>
      </div>
      <Facts
        facts={[
          [text.readAt, readAt && <Ago at={readAt} />],
          [text.readUntil, readUntil && <When at={readUntil} as="moment" />],
          [text.nextAt, isReading ? text.now : nextAt && <When at={nextAt} as="moment" />],
          [text.readFrom, readFrom && <When at={readFrom} as="moment" />],
          [text.unbooked, tally(unbooked)],
          [text.missing, tally(missing)],
        ]}
      />
    </section>
  )
}

function Balances({ data: { booksCents, lastBalance } }: { readonly data: Reconciliation }) {
  const words = useWords()
  const text = words.statement
  const format = useFormat()
  const day = lastBalance && format.day(`${lastBalance.day}T12:00:00Z`)
  return (
    <section aria-labelledby="balances" className={css.section}>
      <h2 id="balances">{text.balances}</h2>
      <dl className={css.figures}>
        <Figure name={text.booksNow} cents={booksCents} />
      </dl>
      {lastBalance === null ? (
        <p className={css.meaning}>{text.noBalance}</p>
      ) : (
        <>
          <h3>{text.endOf(day ?? '')}</h3>
          <dl className={css.figures}>
            <Figure name={text.bank} cents={lastBalance.bankCents} />
            <Figure name={text.books} cents={lastBalance.booksCents} />
            <Figure name={text.difference} cents={lastBalance.differenceCents} />
            <Figure name={text.unexplained} cents={lastBalance.unexplainedCents} isAlarm />
          </dl>
          <p className={css.quiet}>
            {text.balanceHint} <Link href={`/closes/${lastBalance.day}`}>{text.openClose}</Link>
          </p>
        </>
      )}
    </section>
  )
}

interface FigureProps {
  readonly name: string
  readonly cents: number | null
  /** Anything but 0 is bad. */
  readonly isAlarm?: boolean
}

export function Figure({ name, cents, isAlarm = false }: FigureProps) {
  return (
    <div data-alarm={(isAlarm && cents !== null && cents !== 0) || undefined}>
      <dt>{name}</dt>
      <dd className={css.figure}>{cents === null ? '–' : <Amount cents={cents} />}</dd>
    </div>
  )
}

function Differences({ differences: { count, cases } }: { readonly differences: Reconciliation['differences'] }) {
  const words = useWords()
  const text = words.statement
  const kinds: Readonly<Record<string, string>> = words.caseKinds
  return (
    <section aria-labelledby="differences" className={css.section}>
      <h2 id="differences">{text.differences}</h2>
      {cases.length === 0 ? (
        <p className={css.meaning}>{text.noDifferences}</p>
      ) : (
        <Table
          caption={text.differences}
          columns={[[words.cases.what], [words.cases.opened, 'wide'], [words.amount, 'end']]}
        >
          {cases.map(({ id, kind, reference, amountCents, openedAt }) => (
            <tr key={id}>
              <td>
                <Link href={`/cases/${id}`} className={dataCss.rowLink ?? ''} data-row="">
                  {kinds[kind] ?? kind}
                </Link>
                <span className={dataCss.sub}>
                  <code>{reference}</code>
                </span>
                <span className={dataCss.narrow}>
                  <span className={css.quiet}>
                    <Ago at={openedAt} />
                  </span>
                </span>
              </td>
              <td data-kind="wide">
                <Ago at={openedAt} />
              </td>
              <td data-kind="end">{amountCents === null ? '–' : <Amount cents={amountCents} />}</td>
            </tr>
          ))}
        </Table>
      )}
      {count > cases.length && (
        <p className={css.quiet}>
          <Link href="/cases">{text.more(count - cases.length)}</Link>
        </p>
      )}
    </section>
  )
}

/** The statement of a period, for a spreadsheet. */
function Export() {
  const words = useWords()
  const text = words.statement
  const today = dayKey(Date.now())
  const [from, setFrom] = useState(`${today.slice(0, 8)}01`)
  const [to, setTo] = useState(today)
  const isWrong = from !== '' && to !== '' && to < from
  const { mutate, error, isPending } = useSubmit({
    mutationFn: () => saveFile('/operator/statement', { from, to, dialect: 'excel' }),
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (!isWrong) mutate()
  }
  return (
    <section aria-labelledby="export" className={css.section}>
      <h2 id="export">{text.export}</h2>
      <p className={css.meaning}>{text.exportHint}</p>
      <form className={css.period} onSubmit={submit}>
        <Field label={text.from}>
          {(props) => (
            <Input
              {...props}
              type="date"
              required
              max={today}
              value={from}
              onChange={({ target }) => setFrom(target.value)}
            />
          )}
        </Field>
        <Field label={text.to} error={isWrong ? text.periodWrong : undefined}>
          {(props) => (
            <Input
              {...props}
              type="date"
              required
              max={today}
              value={to}
              onChange={({ target }) => setTo(target.value)}
            />
          )}
        </Field>
        <Button type="submit" icon="download" isBusy={isPending}>
          {text.csv}
        </Button>
      </form>
      {error && <ErrorNotice error={error} />}
    </section>
  )
}
