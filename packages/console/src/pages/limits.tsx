import { useQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import { type Overview, reads, type System } from '../api.ts'
import { reais } from '../format.ts'
import { useSession } from '../session.tsx'
import { Amount, Badge, Facts, When } from '../ui/data.tsx'
import { ErrorNotice, Waiting } from '../ui/feedback.tsx'
import { useWords } from '../words/words.tsx'
import css from './administration.module.css'
import { PayoutSwitch } from './overview.tsx'

/** How much may leave, how much has left, and the switch that stops it. */
export function Limits() {
  const words = useWords()
  const text = words.limitsPage
  const system = useQuery(reads.system())
  const overview = useQuery(reads.overview())
  const error = system.error ?? overview.error
  const isLoaded = system.data !== undefined && overview.data !== undefined
  return (
    <>
      <h1>{words.nav.limits}</h1>
      <div className={css.page}>
        {error && !isLoaded && (
          <ErrorNotice error={error} onRetry={() => void Promise.all([system.refetch(), overview.refetch()])} />
        )}
        {!error && !isLoaded && <Waiting lines={9} />}
        {isLoaded && (
          <>
            <section aria-labelledby="used" className={css.section}>
              <header>
                <h2 id="used">{text.used}</h2>
                <p className={css.quiet}>{text.usedHint}</p>
              </header>
              <ul className={css.limits}>
                {system.data.limits.map((limit) => (
                  <Limit key={limit.name} limit={limit} />
                ))}
              </ul>
              <p className={css.quiet}>
                {text.ofKeys} <Link href="/keys">{text.toKeys}</Link>
              </p>
            </section>
            <Switch cashOut={overview.data.health.cashOut} />
            <Approval settings={system.data.settings} />
          </>
        )}
      </div>
    </>
  )
}

const NEAR = 0.8

function Limit({ limit: { name, maxCents, usedCents } }: { readonly limit: System['limits'][number] }) {
  const { limitsPage: text } = useWords()
  const share = maxCents === null || usedCents === null ? null : Math.min(1, usedCents / maxCents)
  return (
    <li className={css.limit}>
      <h3>{text.names[name]}</h3>
      <p className={css.figure}>
        {usedCents === null ? (
          maxCents === null ? (
            text.unlimited
          ) : (
            text.atMost(reais(maxCents))
          )
        ) : (
          <>
            <Amount cents={usedCents} />{' '}
            <span className={css.quiet}>{maxCents === null ? `· ${text.unlimited}` : text.of(reais(maxCents))}</span>
          </>
        )}
      </p>
      {share !== null && (
        <svg
          className={css.meter}
          data-tone={share >= 1 ? 'bad' : share >= NEAR ? 'wait' : 'ok'}
          viewBox="0 0 100 6"
          preserveAspectRatio="none"
          aria-hidden="true"
        >
          <rect width={100 * share} height={6} />
        </svg>
      )}
      <p className={css.quiet}>
        {text.hints[name]}
        {maxCents !== null && usedCents !== null && <> {text.left(reais(Math.max(0, maxCents - usedCents)))}.</>}
      </p>
    </li>
  )
}

function Switch({ cashOut }: { readonly cashOut: Overview['health']['cashOut'] }) {
  const words = useWords()
  const text = words.limitsPage
  return (
    <section aria-labelledby="switch" className={css.section}>
      <h2 id="switch">{text.switchTitle}</h2>
      <Facts
        facts={[
          [
            words.overview.health.payouts,
            <Badge key="state" tone={cashOut.enabled ? 'ok' : 'bad'}>
              {cashOut.enabled ? words.overview.health.payoutsOn : words.overview.health.payoutsOff}
            </Badge>,
          ],
          [text.since, cashOut.changedAt && <When at={cashOut.changedAt} as="moment" />],
          [words.reason, cashOut.reason],
        ]}
      />
      <PayoutSwitch isEnabled={cashOut.enabled} />
    </section>
  )
}

function Approval({ settings }: { readonly settings: System['settings'] }) {
  const words = useWords()
  const text = words.limitsPage
  const { approvalFromCents } = useSession()
  const payouts = settings.find(({ name }) => name === 'PIXGATE_APPROVAL_FROM_CENTS')?.value ?? 'none'
  const from = (cents: number) => (cents === 0 ? text.always : text.from(reais(cents)))
  return (
    <section aria-labelledby="approval" className={css.section}>
      <h2 id="approval">{text.approval}</h2>
      <Facts
        facts={[
          [text.approvalDecisions, from(approvalFromCents)],
          [text.approvalPayouts, /^\d+$/.test(payouts) ? from(Number(payouts)) : text.never],
        ]}
      />
    </section>
  )
}
