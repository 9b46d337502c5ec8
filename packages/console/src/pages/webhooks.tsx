import type { createOperatorWebhook, EventType } from '@pixgate/spec'
import { useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { Link } from 'wouter'
import { call, client, reads, type Webhook, type WebhookSummary } from '../api.ts'
import { useSession, useWhyNot } from '../session.tsx'
import { Button, Field, Input } from '../ui/controls.tsx'
import { Badge, dataCss, Table, type Tone } from '../ui/data.tsx'
import { Dialog, DialogButtons } from '../ui/dialog.tsx'
import { Empty, ErrorNotice, Waiting } from '../ui/feedback.tsx'
import { SecretOnce } from '../ui/secret.tsx'
import { useSubmit } from '../ui/submit.ts'
import { useFormat, useWords } from '../words/words.tsx'
import { Deliveries, shortUrl } from './deliveries.tsx'
import css from './detail.module.css'
import listCss from './list.module.css'

/** Where notifications go, and how they arrive. */
export function Webhooks() {
  const words = useWords()
  const text = words.webhooks
  const whyNot = useWhyNot('admin')
  const [isAdding, setIsAdding] = useState(false)
  const list = useQuery(reads.webhooks())
  const rows = list.data?.data ?? []
  const add = (
    <Button look={rows.length === 0 ? 'primary' : 'plain'} whyNot={whyNot} onClick={() => setIsAdding(true)}>
      {text.add}
    </Button>
  )
  return (
    <>
      <header className={listCss.head}>
        <h1>{words.nav.webhooks}</h1>
        {rows.length > 0 && add}
      </header>
      <div className={css.page}>
        {list.error && <ErrorNotice error={list.error} onRetry={() => list.refetch()} />}
        {list.isPending && <Waiting lines={3} />}
        {list.data && rows.length === 0 && (
          <Empty title={text.none} action={add}>
            {text.noneHint}
          </Empty>
        )}
        {rows.length > 0 && <Endpoints rows={rows} />}
        {list.data && <Deliveries isOptional={rows.length === 0} />}
      </div>
      {isAdding && <AddDialog onClose={() => setIsAdding(false)} />}
    </>
  )
}

function Endpoints({ rows }: { readonly rows: readonly WebhookSummary[] }) {
  const words = useWords()
  const text = words.webhooks
  return (
    <Table
      caption={text.endpoints}
      columns={[
        [text.endpoint],
        [text.rate, 'wide-end'],
        ['p50', 'wide-end'],
        ['p95', 'wide-end'],
        [text.pending, 'wide-end'],
        [words.state],
      ]}
    >
      {rows.map((row) => (
        <Endpoint key={row.webhook_id} row={row} />
      ))}
    </Table>
  )
}

function Endpoint({ row }: { readonly row: WebhookSummary }) {
  const words = useWords()
  const text = words.webhooks
  const format = useFormat()
  // There are at most 20.
  const { data } = useQuery(reads.webhook(row.webhook_id))
  const recent = data?.delivery.recent
  const rate = recent && rateText(recent, format)
  return (
    <tr>
      <td>
        <Link href={`/webhooks/${row.webhook_id}`} className={`${dataCss.rowLink} ${css.url}`} data-row="">
          {shortUrl(row.url)}
        </Link>
        <span className={dataCss.sub}>{row.events.map((event) => text.events[event]).join(', ')}</span>
        <span className={dataCss.narrow}>
          <span className={css.quiet}>
            {text.rate}: {rate ?? '–'}
          </span>
        </span>
      </td>
      <td data-kind="wide-end">{rate}</td>
      <td data-kind="wide-end">{recent && msText(recent.p50Ms)}</td>
      <td data-kind="wide-end">{recent && msText(recent.p95Ms)}</td>
      <td data-kind="wide-end">{data && format.count(data.delivery.pending)}</td>
      <td>
        <EndpointBadge state={data?.delivery.state ?? (row.active ? 'active' : 'paused')} />
      </td>
    </tr>
  )
}

type Recent = Webhook['delivery']['recent']

export function rateText({ successRate }: Recent, { percent }: Pick<ReturnType<typeof useFormat>, 'percent'>): string {
  return successRate === null ? '–' : percent(successRate)
}

export function msText(ms: number | null): string {
  return ms === null ? '–' : `${ms} ms`
}

const TONES = { active: 'ok', degraded: 'bad', paused: 'wait' } as const satisfies Record<string, Tone>

export function EndpointBadge({ state }: { readonly state: Webhook['delivery']['state'] }) {
  const words = useWords()
  return <Badge tone={TONES[state]}>{words.webhooks.states[state]}</Badge>
}

function AddDialog({ onClose }: { readonly onClose: () => void }) {
  const words = useWords()
  const text = words.webhooks
  const { mode } = useSession()
  const [url, setUrl] = useState('')
  const [events, setEvents] = useState(Object.keys(text.events) as readonly EventType[])
  const { mutate, data, error, isPending } = useSubmit({
    mutationFn: () => call<typeof createOperatorWebhook>('POST', '/operator/webhooks', { body: { url, events } }),
    onSuccess: () => client.invalidateQueries({ queryKey: ['webhooks'] }),
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (events.length > 0) mutate()
  }
  if (data) {
    return (
      <Dialog key="made" title={text.secretTitle} onClose={onClose}>
        <SecretOnce secret={data.secret} hint={text.secretUse} onStored={onClose} />
      </Dialog>
    )
  }
  return (
    <Dialog key="make" title={text.addTitle} onClose={onClose}>
      <form onSubmit={submit} className={css.form}>
        <Field label={text.url} hint={mode === 'production' ? text.urlHint : text.urlHintInSandbox}>
          {(props) => (
            <Input
              {...props}
              type="url"
              required
              maxLength={2048}
              placeholder="https://"
              value={url}
              onChange={({ target }) => setUrl(target.value)}
            />
          )}
        </Field>
        <Events chosen={events} onChange={setEvents} />
        {error && <ErrorNotice error={error} />}
        <DialogButtons>
          <Button onClick={onClose}>{words.cancel}</Button>
          <Button
            type="submit"
            look="primary"
            isBusy={isPending}
            whyNot={events.length === 0 ? text.noEvents : undefined}
          >
            {text.addNow}
          </Button>
        </DialogButtons>
      </form>
    </Dialog>
  )
}

interface EventsProps {
  readonly chosen: readonly EventType[]
  readonly onChange: (chosen: readonly EventType[]) => void
}

function Events({ chosen, onChange }: EventsProps) {
  const words = useWords()
  const text = words.webhooks
  const toggle = (name: EventType) =>
    onChange(chosen.includes(name) ? chosen.filter((one) => one !== name) : [...chosen, name])
  return (
    <fieldset className={css.events}>
      <legend>{text.whichEvents}</legend>
      {(Object.keys(text.events) as EventType[]).map((name) => (
        <label key={name}>
          <input type="checkbox" checked={chosen.includes(name)} onChange={() => toggle(name)} />
          <span>
            {text.events[name]} <code className={css.quiet}>{name}</code>
          </span>
        </label>
      ))}
    </fieldset>
  )
}
