import { useQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import { ApiError, type Close as CloseData, reads } from '../api.ts'
import { BackLink, Button } from '../ui/controls.tsx'
import { Amount, Facts, Sided, Table, When } from '../ui/data.tsx'
import { CopyText, Empty, ErrorNotice, Waiting } from '../ui/feedback.tsx'
import { useSubmit } from '../ui/submit.ts'
import { Said, useFormat, useWords } from '../words/words.tsx'
import { CloseBadge } from './closes.tsx'
import { saveFile } from './csv.ts'
import css from './detail.module.css'
import { Figure } from './statement.tsx'

/** The close of one day: its figures, what was open at its end, and its files. */
export function Close({ day }: { readonly day: string }) {
  const words = useWords()
  const { data, error, refetch } = useQuery(reads.close(day))
  if (error instanceof ApiError && error.status === 404) {
    return <Empty title={words.closing.notFound}>{words.closing.notFoundHint}</Empty>
  }
  if (error && !data) return <ErrorNotice error={error} onRetry={() => refetch()} />
  return (
    <>
      <BackLink href="/closes">{words.nav.closes}</BackLink>
      {data ? <Loaded close={data} /> : <Waiting lines={9} />}
    </>
  )
}

function Loaded({ close }: { readonly close: CloseData }) {
  const words = useWords()
  const format = useFormat()
  return (
    <div className={css.page}>
      <header className={css.head}>
        <div className={css.title}>
          <h1 className={css.day}>{format.longDay(`${close.id}T12:00:00Z`)}</h1>
          <CloseBadge status={close.status} />
        </div>
        <p className={css.meaning}>{words.closing.meanings[close.status]}</p>
      </header>
      <Files day={close.id} />
      <Comparison close={close} />
      {close.explained.cases.length > 0 && <Explained close={close} />}
      <Accounts close={close} />
      <Journals close={close} />
      <Open close={close} />
      <Proof close={close} />
    </div>
  )
}

function Files({ day }: { readonly day: string }) {
  const words = useWords()
  const text = words.closing
  return (
    <section aria-label={text.files} className={css.actions}>
      <File path={`/operator/closes/${day}/csv`} dialect="excel" label={text.excel} />
      <File path={`/operator/closes/${day}/csv`} label={text.csv} />
      <File path={`/operator/closes/${day}/ofx`} label={text.ofx} />
    </section>
  )
}

interface FileProps {
  readonly path: string
  readonly label: string
  readonly dialect?: string
}

function File({ path, label, dialect }: FileProps) {
  const { mutate, error, isPending } = useSubmit({ mutationFn: () => saveFile(path, { dialect }) })
  return (
    <>
      <Button icon="download" isBusy={isPending} onClick={() => mutate()}>
        {label}
      </Button>
      {error && <ErrorNotice error={error} />}
    </>
  )
}

function Comparison({ close }: { readonly close: CloseData }) {
  const words = useWords()
  const text = words.closing
  const { booksCents, bank, differenceCents, unexplainedCents, timing, kept } = close
  return (
    <section aria-labelledby="comparison" className={css.section}>
      <h2 id="comparison">{text.comparison}</h2>
      <dl className={css.figures}>
        <Figure name={text.books} cents={booksCents} />
        <Figure name={text.bank} cents={bank?.closingCents ?? null} />
        <Figure name={text.difference} cents={differenceCents} />
        <Figure name={text.unexplained} cents={unexplainedCents} isAlarm />
      </dl>
      {timing.count + kept.count > 0 && (
        <Facts
          facts={[
            [text.timing, timing.count > 0 && <Counted key="timing" {...timing} />],
            [text.kept, kept.count > 0 && <Counted key="kept" {...kept} />],
          ]}
        />
      )}
    </section>
  )
}

function Counted({ count, cents }: CloseData['timing']) {
  const format = useFormat()
  return (
    <>
      <Amount cents={cents} isSigned /> <span className={css.quiet}>({format.count(count)})</span>
    </>
  )
}

function Explained({ close: { explained } }: { readonly close: CloseData }) {
  const words = useWords()
  const text = words.closing
  const kinds: Readonly<Record<string, string>> = words.caseKinds
  return (
    <section aria-labelledby="explained" className={css.section}>
      <h2 id="explained">{text.explained}</h2>
      <Table caption={text.explained} columns={[[words.cases.what], [words.amount, 'end']]}>
        {explained.cases.map(({ caseId, kind, reference, cents }) => (
          <tr key={`${kind} ${reference}`}>
            <td>
              {caseId === null ? (kinds[kind] ?? kind) : <Link href={`/cases/${caseId}`}>{kinds[kind] ?? kind}</Link>}{' '}
              <code className={css.quiet}>{reference}</code>
            </td>
            <td data-kind="end">
              <Amount cents={cents} isSigned />
            </td>
          </tr>
        ))}
      </Table>
      {explained.count > explained.cases.length && (
        <p className={css.quiet}>{text.more(explained.count - explained.cases.length)}</p>
      )}
    </section>
  )
}

function Accounts({ close: { id, accounts } }: { readonly close: CloseData }) {
  const words = useWords()
  const text = words.closing
  return (
    <section aria-labelledby="accounts" className={css.section}>
      <h2 id="accounts">{text.accounts}</h2>
      <Table
        caption={text.accounts}
        columns={[[words.account], [text.opening, 'wide-end'], [text.change, 'wide-end'], [text.closing, 'end']]}
      >
        {accounts.map(({ account, openingCents, closingCents }) => (
          <tr key={account}>
            <td>
              <Link href={`/ledger?account=${account}&from=${id}&to=${id}`}>{words.accounts[account]}</Link>
            </td>
            <td data-kind="wide-end">
              <Sided cents={openingCents} />
            </td>
            <td data-kind="wide-end">
              <Sided cents={closingCents - openingCents} />
            </td>
            <td data-kind="end">
              <Sided cents={closingCents} />
            </td>
          </tr>
        ))}
      </Table>
    </section>
  )
}

function Journals({ close: { journals } }: { readonly close: CloseData }) {
  const words = useWords()
  const text = words.closing
  const format = useFormat()
  return (
    <section aria-labelledby="journals" className={css.section}>
      <h2 id="journals">{text.journals}</h2>
      {journals.length === 0 ? (
        <p className={css.meaning}>{text.noJournals}</p>
      ) : (
        <Table caption={text.journals} columns={[[words.ledger.entry], [text.count, 'end'], [text.sum, 'end']]}>
          {journals.map(({ journal, meaning, count, accounts }) => (
            <tr key={journal}>
              <td>
                <span className={css.said}>
                  <Said text={meaning ?? journal} />
                </span>
                <span className={css.postings}>
                  {accounts.map(
                    ({ account, cents }) =>
                      cents !== 0 && (
                        <span key={account}>
                          {words.accounts[account]} <Sided cents={cents} />
                        </span>
                      ),
                  )}
                </span>
              </td>
              <td data-kind="end">{format.count(count)}</td>
              <td data-kind="end">
                <Amount cents={accounts.reduce((sum, { cents }) => sum + Math.max(cents, 0), 0)} />
              </td>
            </tr>
          ))}
        </Table>
      )}
    </section>
  )
}

/** What was open when the day ended. */
function Open({ close: { reservations, openCases } }: { readonly close: CloseData }) {
  const words = useWords()
  const text = words.closing
  const kinds: Readonly<Record<string, string>> = words.caseKinds
  return (
    <section aria-labelledby="open" className={css.section}>
      <h2 id="open">{text.open}</h2>
      <Facts
        facts={[
          [text.reservations, <Counted key="reservations" {...reservations} />],
          [text.openCases, openCases.count],
        ]}
      />
      {openCases.cases.length > 0 && (
        <Table caption={text.openCases} columns={[[words.cases.what], [words.amount, 'end']]}>
          {openCases.cases.map(({ id, kind, amountCents }) => (
            <tr key={id}>
              <td>
                <Link href={`/cases/${id}`}>{kinds[kind] ?? kind}</Link>
              </td>
              <td data-kind="end">{amountCents === null ? '–' : <Amount cents={amountCents} />}</td>
            </tr>
          ))}
        </Table>
      )}
      {openCases.count > openCases.cases.length && (
        <p className={css.quiet}>{text.more(openCases.count - openCases.cases.length)}</p>
      )}
    </section>
  )
}

function Proof({ close }: { readonly close: CloseData }) {
  const words = useWords()
  const text = words.closing
  return (
    <section aria-labelledby="proof" className={css.section}>
      <h2 id="proof">{text.proof}</h2>
      <p className={css.meaning}>{text.proofHint}</p>
      <Facts
        facts={[
          [text.from, <When key="from" at={close.from} as="moment" />],
          [text.to, <When key="to" at={close.to} as="moment" />],
          [text.madeAt, <When key="made" at={close.madeAt} as="moment" />],
        ]}
      />
      <div>
        <p className={css.quiet}>{text.hash}</p>
        <CopyText text={close.hash} label={`${words.copy}: SHA-256`} />
      </div>
    </section>
  )
}
