import { Fragment, type ReactNode, useState } from 'react'
import type { Operation, OperationKind, Timeline } from '../api.ts'
import { dayKey } from '../format.ts'
import { stateText } from '../states.tsx'
import { Choice } from '../ui/controls.tsx'
import { Amount, Badge, Bytes, Facts, KeptFacts, Table, type Tone, textOfBase64, When } from '../ui/data.tsx'
import { CopyText, Empty } from '../ui/feedback.tsx'
import { Icon, type IconName } from '../ui/icons.tsx'
import { Said, useFormat, useWords, type Words } from '../words/words.tsx'
import { Attempts, DeliveryBadge } from './delivery.tsx'
import css from './timeline.module.css'

/** Everything that happened to an operation, in one line of time. */

type Part = 'states' | 'bank' | 'ledger' | 'notifications'

export interface Entry {
  readonly key: string
  readonly at: string
  readonly part: Part
  readonly icon: IconName
  readonly title: ReactNode
  readonly more?: ReactNode
  readonly tone?: Tone | undefined
}

/** Of an operation its rules, deliveries and bodies, too; a case has only the timeline. */
type Known = Partial<Pick<Operation, 'rules' | 'deliveryIds' | 'bodies'>>

interface TimelineProps {
  readonly kind: OperationKind
  readonly timeline: Timeline
  readonly known?: Known
}

export function TimelineView({ kind, timeline, known = {} }: TimelineProps) {
  const words = useWords()
  const text = words.timeline
  const [part, setPart] = useState<Part | 'all'>('all')
  const all = entriesOf(kind, timeline, known, words)
  const shown = all.filter((entry) => part === 'all' || entry.part === part)
  return (
    <section aria-labelledby="timeline" className={css.section}>
      <header className={css.head}>
        <h2 id="timeline">{text.title}</h2>
        <Choice
          label={text.parts}
          value={part}
          options={(['all', 'states', 'bank', 'ledger', 'notifications'] as const).map((name) => [
            name,
            text.part[name],
          ])}
          onChange={setPart}
        />
      </header>
      {shown.length === 0 && <Empty title={text.empty}>{text.emptyHint}</Empty>}
      <EntryList entries={shown} />
      {timeline.truncated.length > 0 && <p className={css.quiet}>{text.truncated}</p>}
    </section>
  )
}

/** Entries in their order, under the day of each. */
export function EntryList({ entries }: { readonly entries: readonly Entry[] }) {
  const format = useFormat()
  return (
    <ol className={css.line}>
      {entries.map((entry, index) => (
        <Fragment key={entry.key}>
          {dayKey(entry.at) !== dayKey(entries[index - 1]?.at ?? 0) && (
            <li className={css.day}>{format.longDay(entry.at)}</li>
          )}
          <li className={css.entry} data-tone={entry.tone}>
            <span className={css.icon}>
              <Icon name={entry.icon} size={18} />
            </span>
            <span className={css.at}>
              <When at={entry.at} as="time" />
            </span>
            <div className={css.body}>
              <div className={css.title}>{entry.title}</div>
              {entry.more}
            </div>
          </li>
        </Fragment>
      ))}
    </ol>
  )
}

export function entriesOf(kind: OperationKind, timeline: Timeline, known: Known, words: Words): Entry[] {
  const { request, moves, events, journals, notifications } = timeline
  const entries = [
    ...(request ? [requestEntry(request, words)] : []),
    ...events.map((event) => eventEntry(event, words)),
    ...moves.map((move) => moveEntry(kind, move, known, words)),
    ...journals.map((journal, index) => journalEntry(journal, index, words)),
    ...notifications.map((notification) => notificationEntry(notification, known, words)),
  ]
  return entries.sort((one, other) => Date.parse(one.at) - Date.parse(other.at))
}

/** A line under an entry that opens what it is about. */
function More({ label, children }: { readonly label: string; readonly children: ReactNode }) {
  const [isOpen, setIsOpen] = useState(false)
  return (
    <details className={css.more} onToggle={({ currentTarget }) => setIsOpen(currentTarget.open)}>
      <summary>{label}</summary>
      {isOpen && <div className={css.inside}>{children}</div>}
    </details>
  )
}

function requestEntry(request: NonNullable<Timeline['request']>, words: Words): Entry {
  const { valueCents, feeCents, correlationId, apiKeyId, address, detail, createdAt } = request
  const text = words.timeline
  return {
    key: 'request',
    at: createdAt,
    part: 'states',
    icon: 'request',
    title: (
      <>
        {text.request} <Amount cents={valueCents} />
      </>
    ),
    more: (
      <More label={text.requestMore}>
        <Facts
          facts={[
            [words.fee, feeCents > 0 && <Amount key="fee" cents={feeCents} />],
            [words.apiKey, apiKeyId && <CopyText key="key" text={apiKeyId} />],
            [text.address, address],
            [words.correlationId, <CopyText key="correlation" text={correlationId} />],
          ]}
        />
        <KeptFacts value={detail} />
      </More>
    ),
  }
}

function moveEntry(kind: OperationKind, move: Timeline['moves'][number], known: Known, words: Words): Entry {
  const { version, trigger, from, to, facts, evidence, at } = move
  const text = words.timeline
  const rules = known.rules?.[String(version)] ?? []
  const triggers: Readonly<Record<string, string>> = text.triggers
  return {
    key: `move-${version}`,
    at,
    part: /^(?:charge|send|partner)\./.test(trigger) ? 'bank' : 'states',
    icon: trigger.startsWith('operator.') ? 'people' : /^(?:charge|send|partner)\./.test(trigger) ? 'bank' : 'move',
    tone: /RECONCILIATION|UNKNOWN|FAILED/.test(to) && from !== to ? 'bad' : undefined,
    title: (
      <>
        {triggers[trigger] ?? trigger}
        {from !== to && (
          <span className={css.became}>
            <Icon name="right" size={16} />
            <span className="visually-hidden">{text.became}</span> {stateText({ kind, status: to }, words)}
          </span>
        )}
      </>
    ),
    more: (
      <More label={text.why}>
        {rules.map(({ id, says }) => (
          <p key={says}>
            <Said text={says} /> <code className={css.rule}>{id}</code>
          </p>
        ))}
        {rules.length === 0 && <p className={css.quiet}>{text.noRule}</p>}
        <p className={css.quiet}>
          <code>{trigger}</code> · {text.version(version)}
        </p>
        <KeptFacts value={facts} />
        {evidence !== null && evidence !== undefined && (
          <>
            <h3>{text.evidence}</h3>
            <KeptFacts value={evidence} />
          </>
        )}
      </More>
    ),
  }
}

function eventEntry(event: Timeline['events'][number], words: Words): Entry {
  const text = words.timeline
  return {
    key: `event-${event.id}-${event.ordinal}`,
    at: event.receivedAt,
    part: 'bank',
    icon: 'bank',
    title: (
      <>
        {text.event} <Badge tone={event.isProven ? 'ok' : 'calm'}>{event.isProven ? text.proven : text.unproven}</Badge>
      </>
    ),
    more: (
      <More label={text.eventMore}>
        <Facts
          facts={[
            [text.endpoint, event.endpoint],
            [words.state, event.state],
            [text.outcome, event.outcome],
          ]}
        />
        <Bytes text={textOfBase64(event.body)} />
      </More>
    ),
  }
}

function journalEntry(journal: Timeline['journals'][number], index: number, words: Words): Entry {
  const text = words.timeline
  return {
    key: `journal-${index}`,
    at: journal.at,
    part: 'ledger',
    icon: 'ledger',
    title: (
      <span className={css.said}>
        {text.booked} <Said text={journal.meaning ?? journal.journal} />
      </span>
    ),
    more: (
      <More label={text.journalMore}>
        <Table
          caption={text.journalMore}
          columns={[[words.account], [words.amount, 'end'], [text.balanceAfter, 'end']]}
        >
          {journal.entries.map(({ account, amountCents, balanceAfterCents }, entry) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: entries never move
            <tr key={entry}>
              <td>{words.accounts[account]}</td>
              <td data-kind="end">
                <Amount cents={amountCents} isSigned />
              </td>
              <td data-kind="end">
                <Amount cents={balanceAfterCents} />
              </td>
            </tr>
          ))}
        </Table>
        <p className={css.quiet}>
          <code>{journal.journal}</code> {journal.reference !== '' && <CopyText text={journal.reference} />}
        </p>
      </More>
    ),
  }
}

function notificationEntry(notification: Timeline['notifications'][number], known: Known, words: Words): Entry {
  const text = words.timeline
  const { id, eventType, status, createdAt, deliveries } = notification
  const ids = known.deliveryIds?.[id] ?? []
  const body = known.bodies?.[id]
  const isFailed = deliveries.some(({ state }) => state === 'FAILED')
  return {
    key: `notification-${id}`,
    at: createdAt,
    part: 'notifications',
    icon: 'bell',
    tone: isFailed ? 'bad' : undefined,
    title: (
      <>
        {text.notification} <code>{eventType}</code> {status}
      </>
    ),
    more: (
      <>
        {deliveries.length === 0 && <p className={css.quiet}>{text.noEndpoint}</p>}
        <ul className={css.deliveries}>
          {deliveries.map((delivery, index) => (
            <DeliveryLine key={ids[index] ?? delivery.url} delivery={delivery} id={ids[index]} />
          ))}
        </ul>
        {body !== undefined && (
          <More label={text.bodyMore}>
            <Bytes text={body} />
          </More>
        )}
      </>
    ),
  }
}

type DeliverySummary = Timeline['notifications'][number]['deliveries'][number]

function DeliveryLine({ delivery, id }: { readonly delivery: DeliverySummary; readonly id: string | undefined }) {
  const words = useWords()
  return (
    <li>
      <span className={css.url}>{delivery.url}</span> <DeliveryBadge state={delivery.state} />{' '}
      <span className={css.quiet}>{words.deliveries.attempts(delivery.attempts)}</span>
      {id !== undefined && (
        <More label={words.deliveries.more}>
          <Attempts id={id} />
        </More>
      )}
    </li>
  )
}
