import type { DeliveryState } from '@pixgate/spec'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { Link, useSearchParams } from 'wouter'
import { type DeliverySummary, reads } from '../api.ts'
import { Button, Field, Input, Select, useDraft } from '../ui/controls.tsx'
import { Bytes, dataCss, Facts, Table, When } from '../ui/data.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { CopyText, Empty, ErrorNotice, Waiting } from '../ui/feedback.tsx'
import { useRowKeys } from '../ui/keys.ts'
import { useWords } from '../words/words.tsx'
import { Attempts, DeliveryBadge } from './delivery.tsx'
import css from './detail.module.css'
import { List } from './list.tsx'

/** Deliveries of all endpoints or of one, newest first; the filters are in the address. */

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

interface DeliveriesProps {
  readonly webhookId?: string
  /** Shown only where there are some. */
  readonly isOptional?: boolean
}

export function Deliveries({ webhookId, isOptional = false }: DeliveriesProps) {
  const words = useWords()
  const text = words.webhooks
  const [params, setParams] = useSearchParams()
  const state = params.get('state') ?? ''
  const operationId = params.get('operation') ?? ''
  const set = (next: Readonly<Record<string, string>>) => {
    const given = Object.entries({ state, operation: operationId, ...next }).filter(([, value]) => value !== '')
    setParams(new URLSearchParams(given), { replace: true })
  }
  const list = useInfiniteQuery(reads.deliveries({ webhook_id: webhookId, state, operation_id: operationId }))
  const rows = list.data?.pages.flatMap(({ data }) => data) ?? []
  const isFiltered = state !== '' || operationId !== ''
  const clear = () => set({ state: '', operation: '' })
  useRowKeys()
  if (isOptional && rows.length === 0 && !isFiltered && !list.error) return null
  return (
    <section aria-labelledby="deliveries" className={css.section}>
      <h2 id="deliveries">{text.deliveries}</h2>
      <Filters state={state} operationId={operationId} set={set} />
      <List
        list={list}
        isEmpty={rows.length === 0}
        empty={
          <Empty
            title={isFiltered ? text.noMatch : text.noDeliveries}
            action={isFiltered && <Button onClick={clear}>{words.clearFilters}</Button>}
          >
            {isFiltered ? text.noMatchHint : text.noDeliveriesHint}
          </Empty>
        }
      >
        <Rows rows={rows} isOfOne={webhookId !== undefined} />
      </List>
    </section>
  )
}

interface FiltersProps {
  readonly state: string
  readonly operationId: string
  readonly set: (next: Readonly<Record<string, string>>) => void
}

function Filters({ state, operationId, set }: FiltersProps) {
  const words = useWords()
  const text = words.webhooks
  const [draft, setDraft] = useDraft(operationId)
  const isWrong = draft !== '' && !UUID.test(draft.trim())
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (!isWrong) set({ operation: draft.trim() })
  }
  return (
    <form className={css.period} onSubmit={submit}>
      <Field label={words.state}>
        {(props) => (
          <Select {...props} value={state} onChange={({ target }) => set({ state: target.value })}>
            <option value="">{words.payments.anyState}</option>
            {Object.entries(words.deliveries.states).map(([name, shown]) => (
              <option key={name} value={name}>
                {shown}
              </option>
            ))}
          </Select>
        )}
      </Field>
      <div className={css.wide}>
        <Field label={text.operationId} error={isWrong ? text.operationIdWrong : undefined}>
          {(props) => (
            <Input {...props} maxLength={36} value={draft} onChange={({ target }) => setDraft(target.value)} />
          )}
        </Field>
      </div>
      <Button type="submit">{words.apply}</Button>
    </form>
  )
}

interface RowsProps {
  readonly rows: readonly DeliverySummary[]
  /** All are of one endpoint, which is not named then. */
  readonly isOfOne: boolean
}

function Rows({ rows, isOfOne }: RowsProps) {
  const words = useWords()
  const text = words.webhooks
  const [openId, setOpenId] = useState<string>()
  const open = rows.find(({ id }) => id === openId)
  return (
    <>
      <Table
        caption={text.deliveries}
        columns={[
          [text.notification],
          ...(isOfOne ? [] : [[text.endpoint, 'wide'] as const]),
          [words.when, 'wide'],
          [text.attempts, 'wide-end'],
          [words.state],
        ]}
      >
        {rows.map((row) => (
          <tr key={row.id}>
            <td>
              <button type="button" className={dataCss.rowLink} data-row="" onClick={() => setOpenId(row.id)}>
                {text.events[row.eventType]}
              </button>
              <span className={dataCss.sub}>{row.externalId ?? row.operationId}</span>
              <span className={dataCss.narrow}>
                <span className={css.quiet}>
                  <When at={row.createdAt} /> · {words.deliveries.attempts(row.attemptCount)}
                </span>
              </span>
            </td>
            {!isOfOne && (
              <td data-kind="wide">
                <EndpointName id={row.webhookId} />
              </td>
            )}
            <td data-kind="wide">
              <When at={row.createdAt} />
            </td>
            <td data-kind="wide-end">{row.attemptCount}</td>
            <td>
              <DeliveryBadge state={row.state} />
            </td>
          </tr>
        ))}
      </Table>
      {open && <DeliveryDialog delivery={open} onClose={() => setOpenId(undefined)} />}
    </>
  )
}

/** A removed endpoint has no address any more. */
function EndpointName({ id }: { readonly id: string }) {
  const words = useWords()
  const { data } = useQuery(reads.webhooks())
  if (!data) return null
  const url = data.data.find(({ webhook_id }) => webhook_id === id)?.url
  return <span className={`${css.url} ${css.quiet}`}>{url === undefined ? words.webhooks.removed : shortUrl(url)}</span>
}

/** Without the scheme that all have. */
export function shortUrl(url: string): string {
  return url.replace(/^https:\/\//, '').replace(/\/$/, '')
}

interface DeliveryProps {
  readonly delivery: DeliverySummary
  readonly onClose: () => void
}

function DeliveryDialog({ delivery, onClose }: DeliveryProps) {
  const words = useWords()
  const text = words.webhooks
  const [isBodyShown, setIsBodyShown] = useState(false)
  const { id, eventType, state, operationId, notificationId, createdAt, finishedAt, nextAttemptAt } = delivery
  const labels: Readonly<Partial<Record<DeliveryState, string>>> = {
    DELIVERED: text.deliveredAt,
    FAILED: text.failedAt,
  }
  return (
    <Dialog title={text.events[eventType]} isLight onClose={onClose}>
      <div className={css.inside}>
        <div>
          <DeliveryBadge state={state} />
        </div>
        <Facts
          facts={[
            [text.createdAt, <When key="created" at={createdAt} as="moment" />],
            [labels[state] ?? text.endedAt, finishedAt && <When at={finishedAt} as="moment" />],
            [text.nextAttempt, nextAttemptAt && <When at={nextAttemptAt} as="moment" />],
            [
              text.operation,
              <Link key="operation" href={`/payments/${operationId}`}>
                {text.openOperation}
              </Link>,
            ],
            [text.notificationId, <CopyText key="id" text={notificationId} label={`${words.copy}: webhook-id`} />],
          ]}
        />
        <h3>{words.deliveries.more}</h3>
        <Attempts id={id} />
        <details onToggle={({ currentTarget }) => setIsBodyShown(currentTarget.open)}>
          <summary>{text.body}</summary>
          {isBodyShown && <Body operationId={operationId} notificationId={notificationId} />}
        </details>
      </div>
    </Dialog>
  )
}

/** The bytes that every attempt sends. */
function Body({ operationId, notificationId }: { readonly operationId: string; readonly notificationId: string }) {
  const words = useWords()
  const { data, error } = useQuery(reads.operation(operationId))
  if (error) return <ErrorNotice error={error} />
  if (!data) return <Waiting lines={3} />
  const body = data.bodies[notificationId]
  return body === undefined ? <p className={css.quiet}>{words.erased}</p> : <Bytes text={body} />
}
