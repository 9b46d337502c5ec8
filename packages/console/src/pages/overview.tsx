import type { getCashOutSwitch, setCashOutSwitch } from '@pixgate/spec'
import { useQuery } from '@tanstack/react-query'
import { type FormEvent, type ReactNode, useState } from 'react'
import { Link } from 'wouter'
import { call, client, type Overview as OverviewData, reads } from '../api.ts'
import { renewOverview } from '../live.ts'
import { useSession, useWhyNot } from '../session.tsx'
import { Button, ReasonField } from '../ui/controls.tsx'
import { Ago, Amount, Badge, Table, type Tone } from '../ui/data.tsx'
import { Dialog, DialogButtons } from '../ui/dialog.tsx'
import { announce, ErrorNotice, Waiting } from '../ui/feedback.tsx'
import { useSubmit } from '../ui/submit.ts'
import { useFormat, useWords } from '../words/words.tsx'
import { FlowChart } from './chart.tsx'
import css from './overview.module.css'

/** What needs a person, the money of today, and the health of the service. */
export function Overview() {
  const words = useWords()
  const { data, error, refetch } = useQuery(reads.overview())
  if (error && !data) return <ErrorNotice error={error} onRetry={() => refetch()} />
  return (
    <>
      <h1>{words.nav.overview}</h1>
      {data ? <Loaded data={data} /> : <Waiting lines={9} />}
    </>
  )
}

function Loaded({ data }: { readonly data: OverviewData }) {
  const words = useWords()
  return (
    <div className={css.page}>
      <NeedsPerson needs={data.needsPerson} isEmpty={isEmpty(data)} />
      <Today data={data} />
      <div className={css.columns}>
        <Balances accounts={data.accounts} />
        <Health health={data.health} />
      </div>
      <p className="visually-hidden">{words.overview.fresh}</p>
    </div>
  )
}

/** Nothing was booked yet. */
function isEmpty({ accounts, hours, days }: OverviewData): boolean {
  const isStill = ({ inCents, outCents }: { readonly inCents: number; readonly outCents: number }) =>
    inCents === 0 && outCents === 0
  return accounts.every(({ balanceCents }) => balanceCents === 0) && [...hours, ...days].every(isStill)
}

interface NeedsProps {
  readonly needs: OverviewData['needsPerson']
  readonly isEmpty: boolean
}

function NeedsPerson({ needs, isEmpty }: NeedsProps) {
  const words = useWords()
  const format = useFormat()
  const { hasSimulatedBank } = useSession()
  const rows = [
    ['cases', '/cases', needs.cases],
    ['payouts', '/approvals', needs.payouts],
    ['proposals', '/approvals', needs.proposals],
  ] as const
  const waiting = rows.filter(([, , { count }]) => count > 0)
  return (
    <section aria-labelledby="needs" className={css.section}>
      <h2 id="needs">{words.overview.needs}</h2>
      {waiting.length === 0 ? (
        <p className={css.quiet}>
          {words.overview.nothing} {isEmpty && hasSimulatedBank && <Link href="/sandbox">{words.overview.begin}</Link>}
        </p>
      ) : (
        <ul className={css.needs}>
          {waiting.map(([name, href, { count, oldestAt }]) => (
            <li key={name}>
              <Link href={href} className={css.need}>
                <span className={css.needCount}>{format.count(count)}</span>
                <span className={css.needText}>
                  {words.overview.waiting[name](count)}
                  {oldestAt && (
                    <span className={css.quiet}>
                      {words.overview.oldest} <Ago at={oldestAt} />
                    </span>
                  )}
                </span>
              </Link>
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}

function Today({ data }: { readonly data: OverviewData }) {
  const words = useWords()
  const { today } = data
  const figures = [
    ['in', today.in],
    ['out', today.out],
    ['refunded', today.refunded],
    ['failed', today.failed],
    ['unknown', today.unknown],
  ] as const
  return (
    <section aria-labelledby="today" className={css.section}>
      <h2 id="today">{words.overview.today}</h2>
      <dl className={css.figures}>
        {figures.map(([name, { count, cents }]) => (
          <div key={name} data-alarm={(name === 'unknown' && count > 0) || undefined}>
            <dt>{words.overview.figures[name]}</dt>
            <dd>
              <span className={css.figure}>
                <Amount cents={cents} />
              </span>
              <span className={css.quiet}>{words.overview.operations(count)}</span>
            </dd>
          </div>
        ))}
      </dl>
      <FlowChart hours={data.hours} />
    </section>
  )
}

function Balances({ accounts }: { readonly accounts: OverviewData['accounts'] }) {
  const words = useWords()
  const balance = (code: string) => accounts.find(({ account }) => account === code)?.balanceCents ?? 0
  const others = accounts.filter(({ account, balanceCents }) => account !== 'available' && balanceCents !== 0)
  return (
    <section aria-labelledby="balances" className={css.section}>
      <h2 id="balances">{words.overview.available}</h2>
      <p className={css.balance}>
        <Amount cents={balance('available')} />
      </p>
      {others.length > 0 && (
        <Table caption={words.overview.balances} columns={[[words.account], [words.balance, 'end']]}>
          {others.map(({ account, balanceCents }) => (
            <tr key={account}>
              <td>{words.accounts[account]}</td>
              <td data-kind="end">
                {/* The bank's account is negative in the books where the bank holds our money. */}
                <Amount cents={account === 'settlement' ? -balanceCents : balanceCents} />
              </td>
            </tr>
          ))}
        </Table>
      )}
    </section>
  )
}

function Health({ health }: { readonly health: OverviewData['health'] }) {
  const words = useWords()
  return (
    <section aria-labelledby="health" className={css.section}>
      <h2 id="health">{words.overview.health.title}</h2>
      <HealthList health={health} />
      <PayoutSwitch isEnabled={health.cashOut.enabled} />
    </section>
  )
}

/** The standing of what the service depends on. */
export function HealthList({ health }: { readonly health: OverviewData['health'] }) {
  const words = useWords()
  const text = words.overview.health
  const { bank, statement, lastClose, endpoints, cashOut } = health
  const format = useFormat()
  return (
    <ul className={css.health}>
      <State name={text.bank} tone={BANK_TONES[bank.status]} value={text.banks[bank.status]} more={bank.reason} />
      <State
        name={text.statement}
        href="/statement"
        tone={statement.differences > 0 ? 'bad' : statement.readAt ? 'ok' : 'calm'}
        value={statement.differences > 0 ? text.differences(statement.differences) : text.noDifferences}
        more={statement.readAt && <Ago at={statement.readAt} />}
      />
      <State
        name={text.close}
        href="/closes"
        tone={CLOSE_TONES[lastClose?.status ?? ''] ?? 'calm'}
        value={
          lastClose ? (words.closes[lastClose.status as keyof typeof words.closes] ?? lastClose.status) : text.noClose
        }
        more={lastClose && format.day(`${lastClose.day}T12:00:00Z`)}
      />
      <State
        name={text.webhooks}
        href="/webhooks"
        tone={endpoints.degraded + endpoints.paused > 0 ? 'wait' : endpoints.active > 0 ? 'ok' : 'calm'}
        value={text.endpoints(endpoints.active)}
        more={endpoints.degraded + endpoints.paused > 0 && text.troubled(endpoints.degraded, endpoints.paused)}
      />
      <State
        name={text.payouts}
        tone={cashOut.enabled ? 'ok' : 'bad'}
        value={cashOut.enabled ? text.payoutsOn : text.payoutsOff}
        more={cashOut.enabled ? null : cashOut.reason}
      />
    </ul>
  )
}

const BANK_TONES = { ok: 'ok', degraded: 'bad', unknown: 'calm' } as const
const CLOSE_TONES: Readonly<Record<string, Tone>> = {
  BALANCED: 'ok',
  EXPLAINED: 'wait',
  DIFFERS: 'bad',
  UNCONFIRMED: 'calm',
}

interface StateProps {
  readonly name: string
  /** The page that has more about it. */
  readonly href?: string
  readonly tone: Tone
  readonly value: string
  readonly more?: ReactNode
}

function State({ name, href, tone, value, more }: StateProps) {
  return (
    <li>
      <span>
        {href === undefined ? name : <Link href={href}>{name}</Link>}
        {more && <span className={css.quiet}>{more}</span>}
      </span>
      <Badge tone={tone}>{value}</Badge>
    </li>
  )
}

/** Suspends payouts at once; resuming them compares the version that was seen. */
export function PayoutSwitch({ isEnabled }: { readonly isEnabled: boolean }) {
  const words = useWords()
  const text = words.overview.switch
  const whyNot = useWhyNot('operator')
  const [isOpen, setIsOpen] = useState(false)
  return (
    <div>
      <Button look={isEnabled ? 'danger' : 'plain'} whyNot={whyNot} onClick={() => setIsOpen(true)}>
        {isEnabled ? text.suspend : text.resume}
      </Button>
      {isOpen && <SwitchDialog isEnabled={isEnabled} onClose={() => setIsOpen(false)} />}
    </div>
  )
}

function SwitchDialog({ isEnabled, onClose }: { readonly isEnabled: boolean; readonly onClose: () => void }) {
  const words = useWords()
  const text = words.overview.switch
  const [reason, setReason] = useState('')
  const { mutate, error, isPending } = useSubmit({
    mutationFn: async () => {
      const seen = isEnabled ? undefined : await call<typeof getCashOutSwitch>('GET', '/operator/cash-out-switch')
      const body = { enabled: !isEnabled, reason, ...(seen && { version: seen.version }) }
      return call<typeof setCashOutSwitch>('PUT', '/operator/cash-out-switch', { body })
    },
    onSuccess: (cashOut) => {
      announce(isEnabled ? text.suspended : text.resumed)
      onClose()
      const { queryKey } = reads.overview()
      client.setQueryData(queryKey, (seen) => seen && { ...seen, health: { ...seen.health, cashOut } })
      renewOverview()
    },
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    mutate()
  }
  return (
    <Dialog title={isEnabled ? text.suspendTitle : text.resumeTitle} onClose={onClose}>
      <form onSubmit={submit} className={css.form}>
        <p>{isEnabled ? text.suspendHint : text.resumeHint}</p>
        <ReasonField value={reason} onChange={setReason} hint={words.reasonHint} />
        {error && <ErrorNotice error={error} />}
        <DialogButtons>
          <Button onClick={onClose}>{words.cancel}</Button>
          <Button type="submit" look={isEnabled ? 'danger' : 'primary'} isBusy={isPending}>
            {isEnabled ? text.suspend : text.resume}
          </Button>
        </DialogButtons>
      </form>
    </Dialog>
  )
}
