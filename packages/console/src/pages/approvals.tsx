import type { decideApproval } from '@pixgate/spec'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import { type Approval, call, type Proposal, reads } from '../api.ts'
import { useMay, useSession } from '../session.tsx'
import { Button } from '../ui/controls.tsx'
import { Ago, Amount, Facts, When } from '../ui/data.tsx'
import { Empty, ErrorNotice, Notice, Waiting } from '../ui/feedback.tsx'
import { useWords } from '../words/words.tsx'
import css from './approvals.module.css'
import { OperationLink } from './operation-link.tsx'
import { aboutOf, ProposalButtons, VerdictButtons } from './proposal.tsx'

/** What waits for another person: payouts, and decisions about cases. */
export function Approvals() {
  const words = useWords()
  const payouts = useInfiniteQuery(reads.approvals())
  const proposals = useQuery(reads.proposals())
  const waiting = payouts.data?.pages.flatMap(({ data }) => data) ?? []
  const proposed = proposals.data?.data ?? []
  const error = payouts.error ?? proposals.error
  const isLoaded = payouts.data !== undefined && proposals.data !== undefined
  return (
    <>
      <h1>{words.nav.approvals}</h1>
      {error && (
        <ErrorNotice error={error} onRetry={() => void Promise.all([payouts.refetch(), proposals.refetch()])} />
      )}
      {!error && !isLoaded && <Waiting lines={6} />}
      {isLoaded && waiting.length + proposed.length === 0 && (
        <Empty title={words.approvals.none}>{words.approvals.noneHint}</Empty>
      )}
      {proposed.length > 0 && (
        <section aria-labelledby="proposals" className={css.section}>
          <h2 id="proposals">{words.approvals.proposals}</h2>
          {proposed.map((proposal) => (
            <ProposalCard key={proposal.proposalId} proposal={proposal} />
          ))}
        </section>
      )}
      {waiting.length > 0 && (
        <section aria-labelledby="payouts" className={css.section}>
          <h2 id="payouts">{words.approvals.payouts}</h2>
          {waiting.map((payout) => (
            <PayoutCard key={payout.id} payout={payout} />
          ))}
          {payouts.hasNextPage && <Button onClick={() => payouts.fetchNextPage()}>{words.loadMore}</Button>}
        </section>
      )}
    </>
  )
}

function ProposalCard({ proposal }: { readonly proposal: Proposal }) {
  const words = useWords()
  const kinds: Readonly<Record<string, string>> = words.caseKinds
  return (
    <article className={css.card}>
      <header className={css.head}>
        <h3>{words.decisions[proposal.decision]}</h3>
        <p className={css.amount}>
          <Amount cents={proposal.amountCents} />
        </p>
      </header>
      {proposal.operationId !== null && (
        <p>
          <OperationLink id={proposal.operationId} />
        </p>
      )}
      <p>{proposal.reason}</p>
      <p className={css.quiet}>
        {proposal.by.name ?? proposal.by.id} · <Ago at={proposal.at} /> ·{' '}
        <Link href={`/cases/${proposal.caseId}`}>{kinds[proposal.caseKind] ?? proposal.caseKind}</Link>
      </p>
      <ProposalButtons
        caseId={proposal.caseId}
        proposalId={proposal.proposalId}
        by={proposal.by.id}
        about={aboutOf(words.decisions[proposal.decision], proposal.amountCents)}
      />
    </article>
  )
}

function PayoutCard({ payout }: { readonly payout: Approval }) {
  const words = useWords()
  const text = words.approvals
  const { operator } = useSession()
  const mayApprove = useMay('approver')
  const { recipient, approvedBy, approvalsWanted, approvableBy } = payout
  const roleMissing = mayApprove ? undefined : words.roleMissing(words.roles[operator.role])
  const isAble = approvableBy.some(({ id }) => id === operator.id)
  const whyNotApprove = payout.apiKeyDeactivatedAt
    ? words.errors.api_key_deactivated
    : approvedBy.includes(operator.id)
      ? text.already
      : (roleMissing ?? (isAble ? undefined : words.errors.approver_not_independent))
  const isStuck = !payout.apiKeyDeactivatedAt && approvableBy.length < approvalsWanted - approvedBy.length
  return (
    <article className={css.card}>
      <header className={css.head}>
        <h3>
          <Link href={`/payments/${payout.id}`}>{recipient.name ?? payout.externalId}</Link>
        </h3>
        <p className={css.amount}>
          <Amount cents={payout.valueCents} />
        </p>
      </header>
      <Facts
        facts={[
          [words.payment.facts.key, <code key="key">{recipient.pixKey}</code>],
          [words.payment.facts.document, recipient.document],
          [text.statedBy, text.stated[recipient.statedBy]],
          [words.payment.facts.description, payout.description],
          [words.payment.facts.externalId, payout.externalId],
          [text.until, <When key="until" at={payout.approvableUntil} as="moment" />],
          [text.count, text.of(approvedBy.length, approvalsWanted)],
          [text.approvers, approvableBy.map(({ name }) => name).join(', ')],
        ]}
      />
      {isStuck && <Notice tone="wait">{text.stuck(approvalsWanted - approvedBy.length - approvableBy.length)}</Notice>}
      <VerdictButtons
        about={aboutOf(recipient.name ?? payout.externalId, payout.valueCents)}
        whyNotApprove={whyNotApprove}
        whyNotRefuse={roleMissing}
        decide={(body) => call<typeof decideApproval>('PUT', `/operator/approvals/${payout.id}`, { body })}
      />
    </article>
  )
}
