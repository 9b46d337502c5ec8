import type { sandboxForOperators } from '@pixgate/spec'
import { useQueries } from '@tanstack/react-query'
import { type FormEvent, useEffect, useRef, useState } from 'react'
import { Link, useLocation } from 'wouter'
import { call, client, type Operation, reads } from '../api.ts'
import { amountText, centsOf } from '../format.ts'
import { useSession, useWhyNot } from '../session.tsx'
import { OperationBadge } from '../states.tsx'
import { Button, Field, Input, useAmountError } from '../ui/controls.tsx'
import { Amount, Badge } from '../ui/data.tsx'
import { Dialog, DialogButtons } from '../ui/dialog.tsx'
import { Empty, ErrorNotice, Notice, Waiting } from '../ui/feedback.tsx'
import { useSubmit } from '../ui/submit.ts'
import { useWords, type Words } from '../words/words.tsx'
import css from './sandbox.module.css'
import { Behavior, Book, Work } from './sandbox-bank.tsx'
import { type Story, type StoryName, tell, useStory } from './story.ts'
import { type Entry, EntryList, entriesOf } from './timeline.tsx'

/** The simulated bank: stories to watch, what waits there, how it behaves, and its book. */
export function Sandbox() {
  const words = useWords()
  const text = words.sandbox
  const { hasSimulatedBank } = useSession()
  if (!hasSimulatedBank) return <Empty title={text.unavailable}>{text.unavailableHint}</Empty>
  return (
    <>
      <header className={css.head}>
        <h1>{words.nav.sandbox}</h1>
        <p>{text.intro}</p>
      </header>
      <div className={css.page}>
        <Stories />
        <Work newCharge={<NewCharge />} />
        <Behavior />
        <Book />
      </div>
    </>
  )
}

function Stories() {
  const words = useWords()
  const text = words.sandbox
  const story = useStory()
  const whyNot = useWhyNot('operator')
  return (
    <section aria-labelledby="stories" className={css.section}>
      <header>
        <h2 id="stories">{text.tell.title}</h2>
        <p className={css.quiet}>{text.tell.hint}</p>
        {whyNot && <p className={css.quiet}>{whyNot}</p>}
      </header>
      <ul className={css.stories}>
        {(Object.keys(text.stories) as StoryName[]).map((name) => (
          <li key={name}>
            <button
              type="button"
              className={css.story}
              aria-disabled={whyNot !== undefined || undefined}
              aria-current={story?.name === name || undefined}
              onClick={() => whyNot === undefined && void tell(name)}
            >
              <span className={css.storyTitle}>{text.stories[name].title}</span>
              <span className={css.quiet}>{text.stories[name].hint}</span>
            </button>
          </li>
        ))}
      </ul>
      {story && <StoryProgress story={story} />}
    </section>
  )
}

const STORY_TONES = { running: 'wait', ended: 'ok', failed: 'bad' } as const

/** A story while it happens: what its teller did, and what follows from it. */
function StoryProgress({ story }: { readonly story: Story }) {
  const words = useWords()
  const text = words.sandbox
  const ref = useRef<HTMLHeadingElement>(null)
  const read = useQueries({ queries: story.ids.map((id) => reads.operation(id)) })
  const operations = read.flatMap(({ data }) => data ?? [])
  const { name, state } = story
  // biome-ignore lint/correctness/useExhaustiveDependencies: another story begins
  useEffect(() => {
    if (state !== 'running') return
    ref.current?.focus({ preventScroll: true })
    ref.current?.scrollIntoView({ block: 'start', behavior: 'smooth' })
  }, [name])
  return (
    <article className={css.progress} aria-labelledby="progress">
      <header className={css.progressHead}>
        <h3 id="progress" ref={ref} tabIndex={-1}>
          {text.stories[name].title}
        </h3>
        <span role="status">
          <Badge tone={STORY_TONES[state]}>{text.tell[state]}</Badge>
        </span>
      </header>
      <div className={css.progressColumns}>
        <section aria-label={text.tell.happens} className={css.happens}>
          <EntryList entries={entriesOfStory(story, operations, words)} />
          {state === 'running' && <Waiting lines={1} />}
        </section>
        <aside className={css.aside} aria-label={text.tell.results}>
          <ul className={css.operations}>
            {operations.map((operation) => (
              <OperationLine key={operation.id} operation={operation} />
            ))}
          </ul>
          {story.approvalCaseId !== undefined && <ApprovalNotice caseId={story.approvalCaseId} />}
          <OpenCases operations={operations} except={story.approvalCaseId} />
          {story.error !== undefined && <ErrorNotice error={story.error} onRetry={() => void tell(name)} />}
          {state === 'ended' && (
            <>
              <Notice tone="ok">
                <p>{text.stories[name].end}</p>
              </Notice>
              <div>
                <Button onClick={() => void tell(name)}>{text.tell.again}</Button>
              </div>
            </>
          )}
        </aside>
      </div>
    </article>
  )
}

function entriesOfStory(story: Story, operations: readonly Operation[], words: Words): Entry[] {
  const steps = story.steps.map(
    ({ name, cents, at }, index): Entry => ({
      key: `step-${index}`,
      at,
      part: 'states',
      icon: 'people',
      title: (
        <strong>
          {words.sandbox.steps[name]}: <Amount cents={cents} />
        </strong>
      ),
    }),
  )
  const happened = operations.flatMap((operation) =>
    entriesOf(operation.kind, operation.timeline, operation, words).map((entry) => ({
      ...entry,
      key: `${operation.id} ${entry.key}`,
    })),
  )
  return [...steps, ...happened].sort((one, other) => Date.parse(one.at) - Date.parse(other.at))
}

function OperationLine({ operation }: { readonly operation: Operation }) {
  const words = useWords()
  const { id, kind, valueCents } = operation
  return (
    <li className={css.operation}>
      <Link href={`/payments/${id}`}>
        {words.kinds[kind]} <Amount cents={valueCents} />
      </Link>
      <OperationBadge operation={operation} />
    </li>
  )
}

function ApprovalNotice({ caseId }: { readonly caseId: string }) {
  const words = useWords()
  const text = words.sandbox.tell
  return (
    <Notice tone="wait">
      <p>
        <strong>{text.approval}</strong>
      </p>
      <p>{text.approvalHint}</p>
      <p>
        <Link href={`/cases/${caseId}`}>{words.payment.openCase}</Link>
      </p>
    </Notice>
  )
}

interface OpenCasesProps {
  readonly operations: readonly Operation[]
  readonly except: string | undefined
}

function OpenCases({ operations, except }: OpenCasesProps) {
  const words = useWords()
  const kinds: Readonly<Record<string, string>> = words.caseKinds
  const open = operations.flatMap(({ cases }) => cases).filter(({ id, closedAt }) => closedAt === null && id !== except)
  return open.map(({ id, kind, amountCents }) => (
    <Notice key={id} tone="wait">
      <p>
        <strong>{kinds[kind] ?? kind}</strong> {amountCents !== null && <Amount cents={amountCents} />}
      </p>
      <p>
        <Link href={`/cases/${id}`}>{words.payment.openCase}</Link>
      </p>
    </Notice>
  ))
}

const CHARGE_CENTS = 150_00
const CHARGE_MAX_CENTS = 1_000_000_00

function NewCharge() {
  const words = useWords()
  const text = words.sandbox.work
  const whyNot = useWhyNot('operator')
  const [isOpen, setIsOpen] = useState(false)
  return (
    <div>
      <Button whyNot={whyNot} onClick={() => setIsOpen(true)}>
        {text.newCharge}
      </Button>
      {isOpen && <ChargeDialog onClose={() => setIsOpen(false)} />}
    </div>
  )
}

function ChargeDialog({ onClose }: { readonly onClose: () => void }) {
  const words = useWords()
  const text = words.sandbox.work
  const [, navigate] = useLocation()
  const [amount, setAmount] = useState(amountText(CHARGE_CENTS))
  const [externalId] = useState(() => `sandbox-${crypto.randomUUID().slice(0, 8)}`)
  const amountError = useAmountError(amount, CHARGE_MAX_CENTS)
  const { mutate, error, isPending } = useSubmit({
    mutationFn: () =>
      call<(typeof sandboxForOperators)['createOperatorCharge']>('POST', '/operator/cash-ins', {
        body: { transaction: { value: (centsOf(amount) ?? 0) / 100, externalId } },
      }),
    onSuccess: ({ id }) => {
      void client.invalidateQueries()
      navigate(`/payments/${id}`)
    },
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (amountError === undefined) mutate()
  }
  return (
    <Dialog title={text.newCharge} onClose={onClose}>
      <form onSubmit={submit} className={css.form}>
        <Field label={words.amount} hint={text.newChargeHint} error={amountError}>
          {(props) => (
            <Input
              {...props}
              inputMode="decimal"
              required
              value={amount}
              onChange={({ target }) => setAmount(target.value)}
            />
          )}
        </Field>
        {error && <ErrorNotice error={error} />}
        <DialogButtons>
          <Button onClick={onClose}>{words.cancel}</Button>
          <Button type="submit" look="primary" isBusy={isPending}>
            {text.create}
          </Button>
        </DialogButtons>
      </form>
    </Dialog>
  )
}
