import type { noteCase } from '@pixgate/spec'
import { useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { ApiError, call, client, reads, type WholeCase } from '../api.ts'
import { useMay, useSession } from '../session.tsx'
import { BackLink, Button, Field, TextArea } from '../ui/controls.tsx'
import { Amount, Badge, Bytes, Facts, KeptFacts, textOfBase64, When } from '../ui/data.tsx'
import { announce, Empty, ErrorNotice, Waiting } from '../ui/feedback.tsx'
import { useSubmit } from '../ui/submit.ts'
import { Said, useWords } from '../words/words.tsx'
import css from './case.module.css'
import { Decision } from './case-decision.tsx'
import { OperationLink } from './operation-link.tsx'
import { aboutOf, ProposalButtons } from './proposal.tsx'
import { TimelineView } from './timeline.tsx'

/** One case: what is known, what can be decided, and what was decided. */
export function Case({ id }: { readonly id: string }) {
  const words = useWords()
  const { data, error, refetch } = useQuery(reads.case(id))
  if (error instanceof ApiError && error.status === 404) {
    return <Empty title={words.cases.notFound}>{words.cases.notFoundHint}</Empty>
  }
  if (error && !data) return <ErrorNotice error={error} onRetry={() => refetch()} />
  return (
    <>
      <BackLink href="/cases">{words.nav.cases}</BackLink>
      {data ? <Loaded whole={data} /> : <Waiting lines={9} />}
    </>
  )
}

function Loaded({ whole }: { readonly whole: WholeCase }) {
  const words = useWords()
  const mayOrder = useMay('operator')
  const { operator } = useSession()
  const kinds: Readonly<Record<string, string>> = words.caseKinds
  return (
    <div className={css.page}>
      <header className={css.head}>
        <div className={css.title}>
          <h1>{kinds[whole.kind] ?? whole.kind}</h1>
          <Badge tone={whole.state === 'open' ? 'wait' : 'calm'}>
            {whole.state === 'open' ? words.cases.openState : words.cases.closedState}
          </Badge>
        </div>
        {whole.amountCents !== null && (
          <p className={css.amount}>
            <Amount cents={whole.amountCents} />
          </p>
        )}
        <p className={css.meaning}>
          {whole.state === 'closed' && `${words.cases.wasOpened} `}
          <Said text={whole.meaning} />
        </p>
      </header>
      <About whole={whole} />
      {whole.steps.length > 0 && <Steps whole={whole} />}
      {whole.state === 'open' &&
        (mayOrder ? (
          <Decision whole={whole} />
        ) : (
          <p className={css.quiet}>{words.roleMissing(words.roles[operator.role])}</p>
        ))}
      <Note id={whole.id} />
      {whole.timeline && whole.operation && <TimelineView kind={whole.operation.kind} timeline={whole.timeline} />}
    </div>
  )
}

function About({ whole }: { readonly whole: WholeCase }) {
  const words = useWords()
  const { operation, event } = whole
  const aboutId = operation?.id ?? chargeOf(whole)
  return (
    <section aria-labelledby="about" className={css.section}>
      <h2 id="about">{words.cases.about}</h2>
      <Facts
        facts={[
          [words.cases.operation, aboutId && <OperationLink id={aboutId} />],
          [words.cases.opened, <When key="opened" at={whole.openedAt} as="moment" />],
          [words.cases.closedAt, whole.closedAt && <When at={whole.closedAt} as="moment" />],
          [words.cases.reference, whole.reference && <code>{whole.reference}</code>],
        ]}
      />
      <h3>{words.cases.reported}</h3>
      <KeptFacts value={whole.facts} />
      {event && (
        <details>
          <summary>{words.timeline.eventMore}</summary>
          {event.body === null ? (
            <p className={css.quiet}>{words.erased}</p>
          ) : (
            <Bytes text={textOfBase64(event.body)} />
          )}
        </details>
      )}
    </section>
  )
}

/** A requested refund is a case of no operation; its facts name the charge. */
function chargeOf({ facts }: WholeCase): string | undefined {
  const { cashInId } = (facts ?? {}) as Readonly<Record<string, unknown>>
  return typeof cashInId === 'string' ? cashInId : undefined
}

/** What people have decided, proposed, approved, refused and noted. */
function Steps({ whole }: { readonly whole: WholeCase }) {
  const words = useWords()
  const decisions: Readonly<Record<string, string>> = words.decisions
  return (
    <section aria-labelledby="steps" className={css.section}>
      <h2 id="steps">{words.cases.steps}</h2>
      <ol className={css.steps}>
        {whole.steps.map((step) => {
          const { decision, reason, text } = (step.order ?? {}) as Readonly<Record<string, string | undefined>>
          return (
            <li key={step.id}>
              <p>
                <strong>{step.by.name ?? step.by.id}</strong> {words.cases.did[step.step]}
                {decision && <> “{decisions[decision] ?? decision}”</>}
                {step.amountCents > 0 && (
                  <>
                    {' '}
                    <Amount cents={step.amountCents} />
                  </>
                )}{' '}
                <span className={css.quiet}>
                  <When at={step.at} as="moment" />
                </span>
              </p>
              {(reason ?? text) && <p className={css.said}>{reason ?? text}</p>}
              {step.whyVoid && <p className={css.quiet}>{words.cases.isVoid}</p>}
              {step.isOpen && (
                <ProposalButtons
                  caseId={whole.id}
                  proposalId={step.id}
                  by={step.by.id}
                  about={aboutOf(decisions[decision ?? ''] ?? decision, step.amountCents)}
                />
              )}
            </li>
          )
        })}
      </ol>
    </section>
  )
}

/** A note changes nothing; it is for the next reader. */
function Note({ id }: { readonly id: string }) {
  const words = useWords()
  const mayOrder = useMay('operator')
  const [text, setText] = useState('')
  const { mutate, error, isPending } = useSubmit({
    mutationFn: () => call<typeof noteCase>('POST', `/operator/cases/${id}/notes`, { body: { text: text.trim() } }),
    onSuccess: () => {
      setText('')
      announce(words.cases.noted)
      return client.invalidateQueries({ queryKey: ['case'] })
    },
  })
  if (!mayOrder) return null
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (text.trim() !== '') mutate()
  }
  return (
    <form onSubmit={submit} className={css.note}>
      <Field label={words.cases.note} hint={words.cases.noteHint}>
        {(props) => (
          <TextArea {...props} maxLength={500} value={text} onChange={({ target }) => setText(target.value)} />
        )}
      </Field>
      {error && <ErrorNotice error={error} />}
      <div>
        <Button type="submit" isBusy={isPending}>
          {words.cases.addNote}
        </Button>
      </div>
    </form>
  )
}
