import type { DeliveryState, sharedWithOperators } from '@pixgate/spec'
import { useQuery } from '@tanstack/react-query'
import { call, client, reads } from '../api.ts'
import { useWhyNot } from '../session.tsx'
import { Button } from '../ui/controls.tsx'
import { Badge, dataCss, Table, type Tone, When } from '../ui/data.tsx'
import { announce, ErrorNotice, Waiting } from '../ui/feedback.tsx'
import { useSubmit } from '../ui/submit.ts'
import { useWords } from '../words/words.tsx'

/** A notification on its way to an endpoint, and its attempts. */

const TONES: Readonly<Record<DeliveryState, Tone>> = {
  PENDING: 'wait',
  DELIVERED: 'ok',
  FAILED: 'bad',
  CANCELLED: 'calm',
}

export function DeliveryBadge({ state }: { readonly state: string }) {
  const words = useWords()
  const states: Readonly<Record<string, string>> = words.deliveries.states
  return <Badge tone={TONES[state as DeliveryState] ?? 'calm'}>{states[state] ?? state}</Badge>
}

/** Attempts of a delivery, read when they are opened. */
export function Attempts({ id }: { readonly id: string }) {
  const words = useWords()
  const text = words.deliveries
  const whyNot = useWhyNot('operator')
  const { data, error } = useQuery(reads.delivery(id))
  const resend = useSubmit({
    mutationFn: () =>
      call<(typeof sharedWithOperators)['resendOperatorDelivery']>('POST', `/operator/webhook-deliveries/${id}/resend`),
    onSuccess: () => {
      announce(text.resent)
      return client.invalidateQueries({ predicate: ({ queryKey: [kind] }) => /^deliver/.test(String(kind)) })
    },
  })
  if (error) return <ErrorNotice error={error} />
  if (!data) return <Waiting lines={2} />
  return (
    <>
      {data.attempts.length === 0 ? (
        <p className={dataCss.sub}>{text.none}</p>
      ) : (
        <Table caption={text.more} columns={[[words.when], [text.outcome], [text.duration, 'end']]}>
          {data.attempts.map((attempt) => (
            <tr key={attempt.attempt}>
              <td>
                <When at={attempt.startedAt} as="moment" />
              </td>
              <td>
                {text.outcomes[attempt.outcome]} {attempt.statusCode}
                {attempt.answer && (
                  <span className={dataCss.sub}>
                    <code>{attempt.answer}</code>
                  </span>
                )}
              </td>
              <td data-kind="end">{attempt.times.totalMs === null ? '–' : `${attempt.times.totalMs} ms`}</td>
            </tr>
          ))}
        </Table>
      )}
      {resend.error && <ErrorNotice error={resend.error} />}
      <div>
        <Button isBusy={resend.isPending} whyNot={whyNot} onClick={() => resend.mutate()}>
          {text.resend}
        </Button>
      </div>
    </>
  )
}
