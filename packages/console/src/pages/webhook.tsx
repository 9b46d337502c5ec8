import type { sharedWithOperators } from '@pixgate/spec'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { ApiError, call, client, reads, type Webhook as WebhookData } from '../api.ts'
import { useWhyNot } from '../session.tsx'
import { BackLink, Button } from '../ui/controls.tsx'
import { Facts, Table, When } from '../ui/data.tsx'
import { announce, Empty, ErrorNotice, Notice, Waiting } from '../ui/feedback.tsx'
import { useSubmit } from '../ui/submit.ts'
import { useFormat, useWords } from '../words/words.tsx'
import { Deliveries, shortUrl } from './deliveries.tsx'
import css from './detail.module.css'
import { DeleteDialog, RecoverDialog, RotateDialog } from './webhook-dialogs.tsx'
import { EndpointBadge, msText, rateText } from './webhooks.tsx'

/** One endpoint: whether notifications reach it, and what can be done. */
export function Webhook({ id }: { readonly id: string }) {
  const words = useWords()
  const { data, error, refetch } = useQuery(reads.webhook(id))
  if (error instanceof ApiError && error.status === 404) {
    return <Empty title={words.webhooks.notFound}>{words.webhooks.notFoundHint}</Empty>
  }
  if (error && !data) return <ErrorNotice error={error} onRetry={() => refetch()} />
  return (
    <>
      <BackLink href="/webhooks">{words.nav.webhooks}</BackLink>
      {data ? <Loaded webhook={data} /> : <Waiting lines={9} />}
    </>
  )
}

function Loaded({ webhook }: { readonly webhook: WebhookData }) {
  const words = useWords()
  const { reason, state } = webhook.delivery
  return (
    <div className={css.page}>
      <header className={css.head}>
        <div className={css.title}>
          <h1>{shortUrl(webhook.url)}</h1>
          <EndpointBadge state={state} />
        </div>
        <p className={css.meaning}>
          {reason === null ? words.webhooks.meanings[state] : words.webhooks.reasons[reason]}
        </p>
      </header>
      <Actions webhook={webhook} />
      <Recent webhook={webhook} />
      <Situation webhook={webhook} />
      <Secrets webhook={webhook} />
      <Deliveries webhookId={webhook.webhook_id} />
    </div>
  )
}

function Actions({ webhook }: { readonly webhook: WebhookData }) {
  const words = useWords()
  const text = words.webhooks
  const operatorWhyNot = useWhyNot('operator')
  const adminWhyNot = useWhyNot('admin')
  const [open, setOpen] = useState<'recover' | 'rotate' | 'delete'>()
  const close = () => setOpen(undefined)
  const { webhook_id: id } = webhook
  return (
    <section aria-label={text.actions} className={css.section}>
      <div className={css.actions}>
        <Test id={id} whyNot={operatorWhyNot} />
        <Pause id={id} isPaused={webhook.delivery.state === 'paused'} whyNot={operatorWhyNot} />
        <Button whyNot={operatorWhyNot} onClick={() => setOpen('recover')}>
          {text.recover}
        </Button>
        <Button whyNot={adminWhyNot} onClick={() => setOpen('rotate')}>
          {text.rotate}
        </Button>
        <Button look="danger" whyNot={adminWhyNot} onClick={() => setOpen('delete')}>
          {text.remove}
        </Button>
      </div>
      {open === 'recover' && <RecoverDialog id={id} onClose={close} />}
      {open === 'rotate' && <RotateDialog id={id} onClose={close} />}
      {open === 'delete' && <DeleteDialog id={id} url={webhook.url} onClose={close} />}
    </section>
  )
}

interface ActionProps {
  readonly id: string
  readonly whyNot: string | undefined
}

function Test({ id, whyNot }: ActionProps) {
  const words = useWords()
  const text = words.webhooks
  const { mutate, data, error, isPending } = useSubmit({
    mutationFn: () =>
      call<(typeof sharedWithOperators)['testOperatorWebhook']>('POST', `/operator/webhooks/${id}/test`),
  })
  return (
    <>
      <Button look="primary" isBusy={isPending} whyNot={whyNot} onClick={() => mutate()}>
        {text.test}
      </Button>
      {(data || error) && (
        <div className={css.result} role="status">
          {error && <ErrorNotice error={error} />}
          {data && (
            <Notice tone={data.outcome === 'delivered' ? 'ok' : 'bad'}>
              <p>
                <strong>{text.testResult}</strong> {words.deliveries.outcomes[data.outcome]} {data.statusCode}
                {data.times.totalMs !== null && <> · {data.times.totalMs} ms</>}
              </p>
              {data.answer && <code>{data.answer}</code>}
            </Notice>
          )}
        </div>
      )}
    </>
  )
}

/** Takes effect at once, and back: nothing is lost. */
function Pause({ id, isPaused, whyNot }: ActionProps & { readonly isPaused: boolean }) {
  const words = useWords()
  const text = words.webhooks
  const { mutate, error, isPending } = useSubmit({
    mutationFn: () =>
      call<(typeof sharedWithOperators)['pauseOperatorWebhook']>(
        'POST',
        `/operator/webhooks/${id}/${isPaused ? 'resume' : 'pause'}`,
      ),
    onSuccess: (webhook) => {
      announce(isPaused ? text.resumed : text.paused)
      client.setQueryData(reads.webhook(id).queryKey, webhook)
      return client.invalidateQueries({
        predicate: ({ queryKey: [kind] }) => /^(webhooks|overview)$/.test(String(kind)),
      })
    },
  })
  return (
    <>
      <Button isBusy={isPending} whyNot={whyNot} onClick={() => mutate()}>
        {isPaused ? text.resume : text.pause}
      </Button>
      {error && <ErrorNotice error={error} />}
    </>
  )
}

function Recent({ webhook }: { readonly webhook: WebhookData }) {
  const words = useWords()
  const text = words.webhooks
  const format = useFormat()
  const { recent, pending } = webhook.delivery
  const isBad = recent.successRate !== null && recent.successRate < 0.9
  return (
    <section aria-labelledby="recent" className={css.section}>
      <h2 id="recent">{text.recent}</h2>
      <dl className={css.figures}>
        <div data-alarm={isBad || undefined}>
          <dt>{text.rate}</dt>
          <dd>
            <span className={css.figure}>{rateText(recent, format)}</span>
            <span className={css.quiet}>{words.deliveries.attempts(recent.attempts)}</span>
          </dd>
        </div>
        <div>
          <dt>{text.p50}</dt>
          <dd className={css.figure}>{msText(recent.p50Ms)}</dd>
        </div>
        <div>
          <dt>{text.p95}</dt>
          <dd className={css.figure}>{msText(recent.p95Ms)}</dd>
        </div>
        <div>
          <dt>{text.pending}</dt>
          <dd className={css.figure}>{format.count(pending)}</dd>
        </div>
      </dl>
    </section>
  )
}

function Situation({ webhook }: { readonly webhook: WebhookData }) {
  const words = useWords()
  const text = words.webhooks
  const { delivery } = webhook
  const moment = (at: string | null) => at && <When at={at} as="moment" />
  return (
    <section aria-labelledby="situation" className={css.section}>
      <h2 id="situation">{text.situation}</h2>
      <Facts
        facts={[
          [text.since, moment(delivery.since)],
          [text.failures, delivery.failures > 0 && delivery.failures],
          [text.failingSince, moment(delivery.failingSince)],
          [text.nextProbe, moment(delivery.nextProbeAt)],
          [text.heldUntil, moment(delivery.heldUntil)],
          [text.oldestPending, moment(delivery.oldestPendingAt)],
          [text.nextAttempt, moment(delivery.nextAttemptAt)],
          [text.createdAt, moment(webhook.createdAt)],
          [text.whichEvents, webhook.events.map((event) => text.events[event]).join(', ')],
        ]}
      />
    </section>
  )
}

function Secrets({ webhook }: { readonly webhook: WebhookData }) {
  const words = useWords()
  const text = words.webhooks
  return (
    <section aria-labelledby="secrets" className={css.section}>
      <h2 id="secrets">{text.secrets}</h2>
      <Table caption={text.secrets} columns={[[text.secretMade], [text.secretEnds]]}>
        {webhook.secrets.map(({ createdAt, expiresAt }) => (
          <tr key={createdAt}>
            <td>
              <When at={createdAt} as="moment" />
            </td>
            <td>{expiresAt === null ? text.secretNewest : <When at={expiresAt} as="moment" />}</td>
          </tr>
        ))}
      </Table>
    </section>
  )
}
