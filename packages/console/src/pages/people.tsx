import {
  type createOperator,
  type deactivateOperator,
  type OperatorRole,
  operatorRoles,
  type revokeSession,
} from '@pixgate/spec'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { call, client, type OperatorRow, reads, type SessionRow } from '../api.ts'
import { logOut, useMay, useSession, useWhyNot } from '../session.tsx'
import { Button, Field, Input } from '../ui/controls.tsx'
import { Ago, Badge, dataCss, Table, When } from '../ui/data.tsx'
import { ConfirmDialog, Dialog, DialogButtons } from '../ui/dialog.tsx'
import { announce, Empty, ErrorNotice, Waiting } from '../ui/feedback.tsx'
import { SecretOnce } from '../ui/secret.tsx'
import { useSubmit } from '../ui/submit.ts'
import { useWords } from '../words/words.tsx'
import css from './administration.module.css'
import listCss from './list.module.css'
import { List } from './list.tsx'

/** Who operates the service, in which role, and where they are logged in. */
export function People() {
  const words = useWords()
  const text = words.people
  const whyNot = useWhyNot('admin')
  const [isMaking, setIsMaking] = useState(false)
  const list = useInfiniteQuery(reads.operators())
  const rows = list.data?.pages.flatMap(({ data }) => data) ?? []
  return (
    <>
      <header className={listCss.head}>
        <h1>{words.nav.people}</h1>
        <Button look="primary" whyNot={whyNot} onClick={() => setIsMaking(true)}>
          {text.make}
        </Button>
      </header>
      <div className={css.page}>
        <div>
          <List
            list={list}
            isEmpty={rows.length === 0}
            empty={<Empty title={text.none}>{text.noneHint}</Empty>}
            lines={4}
          >
            <Rows rows={rows} mayDeactivate={whyNot === undefined} />
          </List>
        </div>
        <Sessions />
      </div>
      {isMaking && <MakeDialog onClose={() => setIsMaking(false)} />}
    </>
  )
}

interface RowsProps {
  readonly rows: readonly OperatorRow[]
  readonly mayDeactivate: boolean
}

function Rows({ rows, mayDeactivate }: RowsProps) {
  const words = useWords()
  const text = words.people
  const { operator } = useSession()
  const [ending, setEnding] = useState<OperatorRow>()
  return (
    <>
      <Table
        caption={words.nav.people}
        columns={[[words.who], [text.role, 'wide'], [text.lastUsed, 'wide'], [words.state, 'end']]}
      >
        {rows.map((row) => (
          <tr key={row.id}>
            <td>
              {row.name} {row.id === operator.id && <span className={listCss.small}>({text.you})</span>}
              <span className={dataCss.narrow}>
                <span className={listCss.small}>
                  {words.roles[row.role]} · {text.lastUsed}: <Ago at={row.lastUsedAt} />
                </span>
              </span>
            </td>
            <td data-kind="wide">{words.roles[row.role]}</td>
            <td data-kind="wide">
              <Ago at={row.lastUsedAt} />
            </td>
            <td data-kind="end">
              <div className={css.rowEnd}>
                <Badge tone={row.deactivatedAt === null ? 'ok' : 'calm'}>
                  {row.deactivatedAt === null ? text.active : text.off}
                </Badge>
                {mayDeactivate && row.deactivatedAt === null && (
                  <Button look="quiet" aria-label={text.deactivateTitle(row.name)} onClick={() => setEnding(row)}>
                    {text.deactivate}
                  </Button>
                )}
              </div>
            </td>
          </tr>
        ))}
      </Table>
      {ending && <DeactivateDialog operator={ending} onClose={() => setEnding(undefined)} />}
    </>
  )
}

function Sessions() {
  const words = useWords()
  const text = words.people
  const seesAll = useMay('admin')
  const { data, error, refetch } = useQuery(reads.sessions())
  return (
    <section aria-labelledby="sessions" className={css.section}>
      <header>
        <h2 id="sessions">{text.sessions}</h2>
        <p className={css.quiet}>
          {text.sessionsHint} {!seesAll && text.onlyOwn}
        </p>
      </header>
      {error && <ErrorNotice error={error} onRetry={() => refetch()} />}
      {!error && !data && <Waiting lines={3} />}
      {data && data.data.length === 0 && <Empty title={text.noSessions} />}
      {data && data.data.length > 0 && (
        <Table
          caption={text.sessions}
          columns={[[words.who], [text.from, 'wide'], [text.activeAt, 'wide'], [text.end, 'end']]}
        >
          {data.data.map((session) => (
            <SessionLine key={session.id} session={session} />
          ))}
        </Table>
      )}
    </section>
  )
}

function SessionLine({ session }: { readonly session: SessionRow }) {
  const words = useWords()
  const text = words.people
  const { mutate, error, isPending } = useSubmit({
    mutationFn: async () => {
      if (session.isOwn) return logOut()
      await call<typeof revokeSession>('DELETE', `/operator/sessions/${session.id}`)
      announce(text.sessionEnded)
    },
    onSuccess: () => client.invalidateQueries({ queryKey: ['sessions'] }),
  })
  return (
    <tr>
      <td>
        {session.operator.name} {session.isOwn && <span className={listCss.small}>({text.thisSession})</span>}
        <span className={dataCss.narrow}>
          <span className={listCss.small}>
            {session.address} · {browserOf(session.userAgent)} · <Ago at={session.activeAt} />
          </span>
        </span>
        {error && <ErrorNotice error={error} />}
      </td>
      <td data-kind="wide">
        {session.address}
        <span className={dataCss.sub}>{browserOf(session.userAgent)}</span>
      </td>
      <td data-kind="wide">
        <Ago at={session.activeAt} />
        <span className={dataCss.sub}>
          <When at={session.createdAt} />
        </span>
      </td>
      <td data-kind="end">
        <Button look="quiet" isBusy={isPending} aria-label={text.endOf(session.operator.name)} onClick={() => mutate()}>
          {text.end}
        </Button>
      </td>
    </tr>
  )
}

/** Browser and system of a `User-Agent`; its whole text where they are unknown. */
function browserOf(userAgent: string | null): string {
  if (userAgent === null) return ''
  const [, browser, version] = /(Edg|OPR|Firefox|Chrome|Version)\/(\d+)/.exec(userAgent) ?? []
  const [system] = /Windows|Android|iPhone|iPad|Macintosh|Linux/.exec(userAgent) ?? []
  if (browser === undefined) return userAgent
  const name = { Edg: 'Edge', OPR: 'Opera', Version: 'Safari' }[browser] ?? browser
  return `${name} ${version}${system === undefined ? '' : `, ${system}`}`
}

function MakeDialog({ onClose }: { readonly onClose: () => void }) {
  const words = useWords()
  const text = words.people
  const [name, setName] = useState('')
  const [role, setRole] = useState<OperatorRole>('viewer')
  const [made, setMade] = useState<string>()
  const { mutate, error, isPending } = useSubmit({
    gcTime: 0,
    mutationFn: async () => {
      const body = { name: name.trim(), role }
      const { token } = await call<typeof createOperator>('POST', '/operator/operators', { body })
      setMade(token)
    },
    onSuccess: () => client.invalidateQueries({ queryKey: ['operators'] }),
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    mutate()
  }
  if (made !== undefined) {
    return (
      <Dialog key="made" title={text.created} onClose={onClose}>
        <SecretOnce secret={made} hint={text.createdHint} onStored={onClose} />
      </Dialog>
    )
  }
  return (
    <Dialog key="make" title={text.makeTitle} onClose={onClose}>
      <form onSubmit={submit} className={css.form}>
        <Field label={text.name} hint={text.nameHint}>
          {(props) => (
            <Input {...props} required maxLength={100} value={name} onChange={({ target }) => setName(target.value)} />
          )}
        </Field>
        <fieldset className={css.group}>
          <legend>{text.role}</legend>
          {operatorRoles.map((one) => (
            <label key={one} className={css.option}>
              <input type="radio" name="role" checked={one === role} onChange={() => setRole(one)} />
              <span>
                {words.roles[one]}
                <span className={css.quiet}>{text.roleHints[one]}</span>
              </span>
            </label>
          ))}
        </fieldset>
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

function DeactivateDialog({ operator, onClose }: { readonly operator: OperatorRow; readonly onClose: () => void }) {
  const { people: text } = useWords()
  return (
    <ConfirmDialog
      title={text.deactivateTitle(operator.name)}
      label={text.deactivate}
      onConfirm={() => call<typeof deactivateOperator>('DELETE', `/operator/operators/${operator.id}`)}
      onDone={() => {
        announce(text.deactivated)
        onClose()
        return client.invalidateQueries()
      }}
      onClose={onClose}
    >
      <p>{text.deactivateHint}</p>
    </ConfirmDialog>
  )
}
