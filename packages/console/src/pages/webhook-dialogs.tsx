import type { sharedWithOperators } from '@pixgate/spec'
import { type FormEvent, useState } from 'react'
import { useLocation } from 'wouter'
import { call, client } from '../api.ts'
import { instantOfMinute, minuteKey } from '../format.ts'
import { Button, Choice, Field, Input, Select } from '../ui/controls.tsx'
import { ConfirmDialog, Dialog, DialogButtons } from '../ui/dialog.tsx'
import { announce, ErrorNotice, Notice } from '../ui/feedback.tsx'
import { SecretOnce } from '../ui/secret.tsx'
import { useSubmit } from '../ui/submit.ts'
import { useFormat, useWords } from '../words/words.tsx'
import { shortUrl } from './deliveries.tsx'
import css from './detail.module.css'

/** Orders about an endpoint that ask for something first. */

interface DialogProps {
  readonly id: string
  readonly onClose: () => void
}

const DAY_MS = 24 * 60 * 60 * 1_000

/** Renews what is shown of endpoints and their deliveries. */
function renew(): Promise<void> {
  return client.invalidateQueries({ predicate: ({ queryKey: [kind] }) => /^(webhook|deliver)/.test(String(kind)) })
}

type Resent = 'recover' | 'send-missed'

export function RecoverDialog({ id, onClose }: DialogProps) {
  const words = useWords()
  const text = words.webhooks
  const format = useFormat()
  const [what, setWhat] = useState<Resent>('recover')
  const [since, setSince] = useState(() => minuteKey(Date.now() - DAY_MS))
  const instant = instantOfMinute(since)
  const { mutate, data, error, isPending } = useSubmit({
    mutationFn: (from: string) =>
      call<(typeof sharedWithOperators)['recoverOperatorWebhook']>('POST', `/operator/webhooks/${id}/${what}`, {
        body: { since: from },
      }),
    onSuccess: ({ deliveries, hasMore }) => {
      announce(text.recovered(deliveries))
      if (!hasMore) onClose()
      return renew()
    },
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const from = data?.hasMore ? data.since : instant
    if (from !== undefined) mutate(from)
  }
  return (
    <Dialog title={text.recoverTitle} onClose={onClose}>
      <form onSubmit={submit} className={css.form}>
        <Choice
          label={text.recoverWhat}
          value={what}
          options={[
            ['recover', text.recoverFailed],
            ['send-missed', text.recoverMissed],
          ]}
          onChange={setWhat}
        />
        <p>{what === 'recover' ? text.recoverHint : text.missedHint}</p>
        <Field label={text.sinceWhen} hint={text.sinceHint}>
          {(props) => (
            <Input
              {...props}
              type="datetime-local"
              required
              value={since}
              onChange={({ target }) => setSince(target.value)}
            />
          )}
        </Field>
        {data?.hasMore && <Notice tone="wait">{text.recoverMore(format.moment(data.since))}</Notice>}
        {error && <ErrorNotice error={error} />}
        <DialogButtons>
          <Button onClick={onClose}>{words.cancel}</Button>
          <Button type="submit" look="primary" isBusy={isPending}>
            {data?.hasMore ? text.recoverGoOn : text.recoverNow}
          </Button>
        </DialogButtons>
      </form>
    </Dialog>
  )
}

/** Seconds for which the earlier secret still signs. */
const OVERLAPS = [86_400, 604_800, 0] as const

export function RotateDialog({ id, onClose }: DialogProps) {
  const words = useWords()
  const text = words.webhooks
  const [overlap, setOverlap] = useState<number>(OVERLAPS[0])
  const { mutate, data, error, isPending } = useSubmit({
    mutationFn: () =>
      call<(typeof sharedWithOperators)['rotateOperatorWebhookSecret']>(
        'POST',
        `/operator/webhooks/${id}/secret/rotate`,
        { body: { overlapSeconds: overlap } },
      ),
    onSuccess: renew,
  })
  if (data) {
    return (
      <Dialog key="made" title={text.secretTitle} onClose={onClose}>
        <SecretOnce secret={data.secret} hint={text.secretUse} onStored={onClose} />
      </Dialog>
    )
  }
  return (
    <Dialog key="make" title={text.rotateTitle} onClose={onClose}>
      <div className={css.form}>
        <p>{text.rotateHint}</p>
        <Field label={text.overlap}>
          {(props) => (
            <Select {...props} value={overlap} onChange={({ target }) => setOverlap(Number(target.value))}>
              {OVERLAPS.map((seconds) => (
                <option key={seconds} value={seconds}>
                  {text.overlaps[seconds]}
                </option>
              ))}
            </Select>
          )}
        </Field>
        {error && <ErrorNotice error={error} />}
        <DialogButtons>
          <Button onClick={onClose}>{words.cancel}</Button>
          <Button look={overlap === 0 ? 'danger' : 'primary'} isBusy={isPending} onClick={() => mutate()}>
            {text.rotate}
          </Button>
        </DialogButtons>
      </div>
    </Dialog>
  )
}

export function DeleteDialog({ id, url, onClose }: DialogProps & { readonly url: string }) {
  const { webhooks: text } = useWords()
  const [, navigate] = useLocation()
  return (
    <ConfirmDialog
      title={text.removeTitle}
      label={text.remove}
      onConfirm={() =>
        call<(typeof sharedWithOperators)['deleteOperatorWebhook']>('DELETE', `/operator/webhooks/${id}`)
      }
      onDone={() => {
        announce(text.removedNow)
        navigate('/webhooks')
        return renew()
      }}
      onClose={onClose}
    >
      <p className={css.url}>
        <strong>{shortUrl(url)}</strong>
      </p>
      <p>{text.removeHint}</p>
    </ConfirmDialog>
  )
}
