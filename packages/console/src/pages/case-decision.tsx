import type { decideCase } from '@pixgate/spec'
import { useQuery } from '@tanstack/react-query'
import { type FormEvent, Fragment, type ReactNode, useEffect, useId, useState } from 'react'
import { ApiError, call, callOnce, client, type OperationKind, reads, type WholeCase } from '../api.ts'
import { amountText, centsOf, reais } from '../format.ts'
import { stateText } from '../states.tsx'
import { Button, Field, Input, REASON_MIN, TextArea, useAmountError } from '../ui/controls.tsx'
import { Amount, dataCss, Table } from '../ui/data.tsx'
import { announce, ErrorNotice, Notice, Waiting } from '../ui/feedback.tsx'
import { useSubmit } from '../ui/submit.ts'
import { Said, useWords } from '../words/words.tsx'
import css from './case.module.css'

/** Decides a case: the options, what each needs, and what it would book. */

type Option = WholeCase['options'][number]

interface Draft {
  readonly decision?: Option['decision']
  readonly reason: string
  readonly amount: string
  readonly endToEndId: string
  readonly returnId: string
  readonly operationId: string
  readonly reference: string
  readonly note: string
}

const EMPTY: Draft = { reason: '', amount: '', endToEndId: '', returnId: '', operationId: '', reference: '', note: '' }

/** The body of the request; `undefined` while something is missing that the decision needs. */
function bodyOf(draft: Draft, option: Option, version: string) {
  const { decision, needs, maxCents } = option
  const amountCents = maxCents === null ? undefined : centsOf(draft.amount)
  if (maxCents !== null && (amountCents === undefined || amountCents < 1 || amountCents > maxCents)) return undefined
  const named = { endToEndId: draft.endToEndId.trim(), returnId: draft.returnId.trim() }
  if (needs.some((field) => (field === 'endToEndId' || field === 'returnId') && named[field] === '')) return undefined
  if (needs.includes('operationId') && draft.operationId.trim() === '') return undefined
  const evidence = Object.fromEntries(
    Object.entries({ ...named, reference: draft.reference.trim(), note: draft.note.trim() }).filter(([, text]) => text),
  )
  return {
    decision,
    version,
    ...(amountCents !== undefined && { amountCents }),
    ...(draft.operationId.trim() && { operationId: draft.operationId.trim() }),
    ...(Object.keys(evidence).length > 0 && { evidence }),
  }
}

export function Decision({ whole }: { readonly whole: WholeCase }) {
  const words = useWords()
  const text = words.cases
  const [draft, setDraft] = useState(EMPTY)
  const option = whole.options.find(({ decision }) => decision === draft.decision)
  const body = option && bodyOf(draft, option, whole.version)
  const preview = usePreview(whole.id, body)
  const { mutate, error, isPending, reset } = useSubmit({
    mutationFn: () =>
      callOnce<typeof decideCase>('POST', `/operator/cases/${whole.id}/decisions`, {
        ...body,
        reason: draft.reason.trim(),
      }),
    onSuccess: ({ outcome }) => {
      setDraft(EMPTY)
      announce(outcome === 'proposed' ? text.proposed : text.decided)
      return client.invalidateQueries()
    },
    onError: (failure) => {
      if (failure instanceof ApiError && failure.code === 'case_changed') {
        void client.invalidateQueries({ queryKey: ['case'] })
      }
    },
  })
  const isReady = body !== undefined && draft.reason.trim().length >= REASON_MIN
  const isProposal = preview.data?.needsSecondPerson ?? option?.needsSecondPerson ?? false
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (isReady && !isPending) mutate()
  }
  return (
    <form onSubmit={submit} className={css.section} aria-labelledby="decide">
      <h2 id="decide">{text.decide}</h2>
      <Options
        options={whole.options}
        chosen={draft.decision}
        choose={({ decision, maxCents }) => {
          reset()
          setDraft({ ...draft, decision, amount: maxCents === null ? '' : amountText(maxCents) })
        }}
      >
        {option && (
          <div className={css.chosen}>
            <Evidence option={option} draft={draft} setDraft={setDraft} />
            <Preview preview={preview} isComplete={body !== undefined} kind={whole.operation?.kind} />
            {isProposal && <Notice tone="wait">{words.secondPerson}</Notice>}
            {error && <ErrorNotice error={error} />}
            <div>
              <Button type="submit" look="primary" isBusy={isPending} whyNot={isReady ? undefined : text.incomplete}>
                {isProposal ? text.propose : text.decideNow}: {words.decisions[option.decision]}
                {body?.amountCents !== undefined && ` · ${reais(body.amountCents)}`}
              </Button>
            </div>
          </div>
        )}
      </Options>
    </form>
  )
}

interface OptionsProps {
  readonly options: readonly Option[]
  readonly chosen: Option['decision'] | undefined
  readonly choose: (option: Option) => void
  /** What the chosen one needs. */
  readonly children: ReactNode
}

function Options({ options, chosen, choose, children }: OptionsProps) {
  const words = useWords()
  const name = useId()
  if (options.length === 0) return <p className={css.quiet}>{words.cases.noOptions}</p>
  return (
    <fieldset className={css.options}>
      <legend className="visually-hidden">{words.cases.decide}</legend>
      {options.map((option) => (
        <Fragment key={option.decision}>
          <label className={css.option} data-off={!option.isOffered || undefined}>
            <input
              type="radio"
              name={name}
              aria-label={words.decisions[option.decision]}
              aria-describedby={`${name}-${option.decision}`}
              checked={option.decision === chosen}
              disabled={!option.isOffered}
              onChange={() => choose(option)}
            />
            <span id={`${name}-${option.decision}`}>
              <strong>{words.decisions[option.decision]}</strong>
              <span className={css.quiet}>
                <Said text={option.meaning} />
              </span>
              {!option.isOffered && (
                <span className={css.quiet}>
                  {words.cases.notNow}{' '}
                  {option.whyNot.map((why, index) => (
                    <Fragment key={why}>
                      {index > 0 && '; '}
                      <WhyNot text={why} />
                    </Fragment>
                  ))}
                </span>
              )}
            </span>
          </label>
          {option.decision === chosen && children}
        </Fragment>
      ))}
    </fieldset>
  )
}

/** `not: ` stands before a condition of the table that does not hold. */
function WhyNot({ text }: { readonly text: string }) {
  const words = useWords()
  const [, unmet] = /^not: (.*)$/s.exec(text) ?? []
  return unmet === undefined ? (
    <Said text={text} />
  ) : (
    <>
      {words.cases.onlyWhen} <Said text={unmet} />
    </>
  )
}

interface EvidenceProps {
  readonly option: Option
  readonly draft: Draft
  readonly setDraft: (draft: Draft) => void
}

function Evidence({ option, draft, setDraft }: EvidenceProps) {
  const words = useWords()
  const text = words.cases
  const input = (name: keyof Omit<Draft, 'decision'>) => ({
    value: draft[name],
    onChange: ({ target }: { target: { value: string } }) => setDraft({ ...draft, [name]: target.value }),
  })
  const { needs, maxCents } = option
  const wrong = useAmountError(draft.amount, maxCents ?? 0)
  const amountError = draft.amount === '' ? undefined : wrong
  return (
    <div className={css.fields}>
      {maxCents !== null && (
        <Field label={words.amount} hint={words.payment.refund.most(reais(maxCents))} error={amountError}>
          {(props) => <Input {...props} {...input('amount')} inputMode="decimal" required />}
        </Field>
      )}
      {needs.includes('endToEndId') && (
        <Field label={text.endToEndId} hint={text.endToEndIdHint}>
          {(props) => <Input {...props} {...input('endToEndId')} required maxLength={32} />}
        </Field>
      )}
      {needs.includes('returnId') && (
        <Field label={text.returnId} hint={text.returnIdHint}>
          {(props) => <Input {...props} {...input('returnId')} required maxLength={32} />}
        </Field>
      )}
      {needs.includes('operationId') && (
        <Field label={text.operationId} hint={text.operationIdHint}>
          {(props) => <Input {...props} {...input('operationId')} required maxLength={36} />}
        </Field>
      )}
      <Field label={text.bankReference} hint={text.bankReferenceHint}>
        {(props) => <Input {...props} {...input('reference')} maxLength={128} />}
      </Field>
      <Field label={words.reason} hint={words.reasonHint}>
        {(props) => <TextArea {...props} {...input('reason')} required minLength={REASON_MIN} maxLength={500} />}
      </Field>
    </div>
  )
}

const DEBOUNCE_MS = 250

/** Carried out and rolled back by the service, so that it is exactly what would be booked. */
function usePreview(id: string, body: object | undefined) {
  const text = body && JSON.stringify(body)
  const [settled, setSettled] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), DEBOUNCE_MS)
    return () => clearTimeout(timer)
  }, [text])
  return useQuery({
    queryKey: ['preview', id, settled],
    queryFn: ({ signal }) =>
      call<typeof decideCase>('POST', `/operator/cases/${id}/decisions`, {
        body: { ...JSON.parse(settled ?? '{}'), reason: 'preview', dryRun: true },
        signal,
      }),
    enabled: text !== undefined && settled === text,
    staleTime: 0,
    retry: false,
  })
}

interface PreviewProps {
  readonly preview: ReturnType<typeof usePreview>
  readonly isComplete: boolean
  readonly kind: OperationKind | undefined
}

function Preview({ preview: { data, error, isPending }, isComplete, kind }: PreviewProps) {
  const words = useWords()
  const text = words.cases.preview
  const { data: overview } = useQuery(reads.overview())
  const effects = data?.effects
  const before = (account: string) => overview?.accounts.find((one) => one.account === account)?.balanceCents
  return (
    <div className={css.preview} aria-live="polite">
      <h3>{text.title}</h3>
      {!isComplete && <p className={css.quiet}>{text.incomplete}</p>}
      {isComplete && error && <ErrorNotice error={error} />}
      {isComplete && !error && isPending && <Waiting lines={2} />}
      {isComplete && !error && data && (
        <>
          {!effects || effects.accounts.length === 0 ? (
            <p>{text.nothing}</p>
          ) : (
            <Table
              caption={text.title}
              columns={[[words.account], [text.before, 'wide-end'], [text.change, 'end'], [text.after, 'end']]}
            >
              {effects.accounts.map(({ account, changeCents }) => (
                <AccountRow key={account} account={account} before={before(account)} change={changeCents} />
              ))}
            </Table>
          )}
          {effects && <Consequences effects={effects} kind={kind} />}
        </>
      )}
    </div>
  )
}

type Effects = NonNullable<Awaited<ReturnType<typeof call<typeof decideCase>>>['effects']>

interface AccountRowProps {
  readonly account: Effects['accounts'][number]['account']
  readonly before: number | undefined
  readonly change: number
}

/** The account at the bank is shown as the bank sees it, as on the overview. */
function AccountRow({ account, before, change }: AccountRowProps) {
  const words = useWords()
  const sign = account === 'settlement' ? -1 : 1
  return (
    <tr>
      <td>
        {words.accounts[account]}
        {before !== undefined && (
          <span className={dataCss.narrow}>
            {words.cases.preview.before}: <Amount cents={sign * before} />
          </span>
        )}
      </td>
      <td data-kind="wide-end">{before !== undefined && <Amount cents={sign * before} />}</td>
      <td data-kind="end">
        <strong>
          <Amount cents={sign * change} isSigned />
        </strong>
      </td>
      <td data-kind="end">{before !== undefined && <Amount cents={sign * (before + change)} />}</td>
    </tr>
  )
}

interface ConsequencesProps {
  readonly effects: Effects
  readonly kind: OperationKind | undefined
}

function Consequences({ effects, kind: ofKind }: ConsequencesProps) {
  const words = useWords()
  const text = words.cases.preview
  const kinds: Readonly<Record<string, string>> = words.caseKinds
  return (
    <ul className={css.consequences}>
      {effects.journals.map(({ operationId, journal, meaning }) => (
        <li key={`${operationId}-${journal}`}>
          {text.books}: <Said text={meaning} />
        </li>
      ))}
      {effects.operations
        .filter(({ statusBefore, statusAfter }) => statusBefore !== statusAfter)
        .map(({ id, statusBefore, statusAfter }) => (
          <li key={id}>
            {statusBefore === null
              ? text.ordersRefund
              : `${text.becomes}: ${ofKind ? stateText({ kind: ofKind, status: statusAfter }, words) : statusAfter}`}
          </li>
        ))}
      {effects.notifications.map(({ operationId, eventType, status }) => (
        <li key={`${operationId}-${eventType}`}>
          {text.notifies}: <code>{eventType}</code> {status}
        </li>
      ))}
      {effects.closes.length > 0 && <li>{text.closes(effects.closes.length)}</li>}
      {effects.opens.map(({ kind, reference }) => (
        <li key={`${kind}-${reference}`}>
          {text.opens}: {kinds[kind] ?? kind}
        </li>
      ))}
    </ul>
  )
}
