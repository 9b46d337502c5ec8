import { type ApiKeyScope, apiKeyScopes, type sharedWithOperators } from '@pixgate/spec'
import { useInfiniteQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { type ApiKey, call, client, reads } from '../api.ts'
import { centsOf, reais } from '../format.ts'
import { useWhyNot } from '../session.tsx'
import { Button, Choice, Field, Input, TextArea } from '../ui/controls.tsx'
import { Ago, Badge, dataCss, Table, When } from '../ui/data.tsx'
import { ConfirmDialog, Dialog, DialogButtons } from '../ui/dialog.tsx'
import { announce, Empty, ErrorNotice } from '../ui/feedback.tsx'
import { SecretOnce } from '../ui/secret.tsx'
import { useSubmit } from '../ui/submit.ts'
import { useWords } from '../words/words.tsx'
import css from './administration.module.css'
import listCss from './list.module.css'
import { List } from './list.tsx'

/** Keys of the merchant's systems: what each may do, when it was used, and its end. */
export function Keys() {
  const words = useWords()
  const text = words.keys
  const whyNot = useWhyNot('admin')
  const [which, setWhich] = useState<'active' | 'all'>('active')
  const [isMaking, setIsMaking] = useState(false)
  const list = useInfiniteQuery(reads.apiKeys())
  const all = list.data?.pages.flatMap(({ data }) => data) ?? []
  const rows = all.filter((key) => which === 'all' || stateOf(key) === 'active')
  const make = (
    <Button look="primary" whyNot={whyNot} onClick={() => setIsMaking(true)}>
      {text.make}
    </Button>
  )
  return (
    <>
      <header className={listCss.head}>
        <h1>{words.nav.keys}</h1>
        {make}
      </header>
      <div className={listCss.filters}>
        <Choice
          label={text.which}
          value={which}
          options={[
            ['active', text.active],
            ['all', text.allKeys],
          ]}
          onChange={setWhich}
        />
      </div>
      <List
        list={list}
        isEmpty={rows.length === 0}
        empty={<Empty title={all.length === 0 ? text.none : text.noneActive}>{text.noneHint}</Empty>}
      >
        <Rows rows={rows} mayDeactivate={whyNot === undefined} />
      </List>
      {isMaking && <MakeDialog onClose={() => setIsMaking(false)} />}
    </>
  )
}

function stateOf({ deactivatedAt, expiresAt }: ApiKey): 'active' | 'expired' | 'off' {
  if (deactivatedAt !== null) return 'off'
  return expiresAt !== null && Date.parse(expiresAt) <= Date.now() ? 'expired' : 'active'
}

interface RowsProps {
  readonly rows: readonly ApiKey[]
  readonly mayDeactivate: boolean
}

function Rows({ rows, mayDeactivate }: RowsProps) {
  const words = useWords()
  const text = words.keys
  const [ending, setEnding] = useState<ApiKey>()
  return (
    <>
      <Table
        caption={words.nav.keys}
        columns={[[text.name], [text.scopesTitle, 'wide'], [text.lastUsed, 'wide'], [words.state, 'end']]}
      >
        {rows.map((key) => (
          <tr key={key.id}>
            <td>
              {key.name ?? <code>{key.display}…</code>}
              <span className={dataCss.sub}>
                {key.name !== null && (
                  <>
                    <code>{key.display}…</code> ·{' '}
                  </>
                )}
                <When at={key.createdAt} />
              </span>
              <Terms apiKey={key} />
              <span className={dataCss.narrow}>
                <span className={listCss.small}>
                  {key.scopes.map((scope) => text.scopes[scope]).join(', ')} · {text.lastUsed}:{' '}
                  <Ago at={key.lastUsedAt} />
                </span>
              </span>
            </td>
            <td data-kind="wide">{key.scopes.map((scope) => text.scopes[scope]).join(', ')}</td>
            <td data-kind="wide">
              <Ago at={key.lastUsedAt} />
            </td>
            <td data-kind="end">
              <div className={css.rowEnd}>
                <State apiKey={key} />
                {mayDeactivate && key.deactivatedAt === null && (
                  <Button
                    look="quiet"
                    aria-label={text.deactivateTitle(key.name ?? key.display)}
                    onClick={() => setEnding(key)}
                  >
                    {text.deactivate}
                  </Button>
                )}
              </div>
            </td>
          </tr>
        ))}
      </Table>
      {ending && <DeactivateDialog apiKey={ending} onClose={() => setEnding(undefined)} />}
    </>
  )
}

function State({ apiKey }: { readonly apiKey: ApiKey }) {
  const { keys: text } = useWords()
  const state = stateOf(apiKey)
  if (state === 'off') return <Badge tone="calm">{text.stateOff}</Badge>
  if (state === 'expired') return <Badge tone="bad">{text.stateExpired}</Badge>
  return <Badge tone="ok">{text.stateActive}</Badge>
}

/** What restricts the key besides its scopes. */
function Terms({ apiKey: { cidrs, caps, expiresAt } }: { readonly apiKey: ApiKey }) {
  const { keys: text } = useWords()
  const limits = CAPS.flatMap((name) => {
    const cents = caps[name]
    return cents === null ? [] : [`${text.capNames[name]}: ${reais(cents)}`]
  })
  return (
    <>
      {limits.length > 0 && <span className={dataCss.sub}>{limits.join(' · ')}</span>}
      {cidrs !== null && <span className={dataCss.sub}>{cidrs.join(', ')}</span>}
      {expiresAt !== null && (
        <span className={dataCss.sub}>
          {text.expiresAt} <When at={expiresAt} as="moment" />
        </span>
      )}
    </>
  )
}

const CAPS = ['paymentCents', 'hourCents', 'dayCents', 'nightCents', 'newRecipientCents'] as const

interface Draft {
  readonly name: string
  readonly scopes: readonly ApiKeyScope[]
  readonly expiresOn: string
  readonly networks: string
  readonly caps: Readonly<Partial<Record<(typeof CAPS)[number], string>>>
}

const EMPTY: Draft = { name: '', scopes: ['read', 'charge'], expiresOn: '', networks: '', caps: {} }

function bodyOf({ name, scopes, expiresOn, networks, caps }: Draft) {
  const cidrs = networks.split(/[\s,;]+/).filter(Boolean)
  const capped = Object.entries(caps).flatMap(([cap, amount]) => (amount ? [[cap, centsOf(amount)]] : []))
  return {
    name: name.trim(),
    scopes,
    ...(cidrs.length > 0 && { cidrs }),
    ...(expiresOn && { expiresAt: new Date(`${expiresOn}T23:59:59.999-03:00`).toISOString() }),
    ...(capped.length > 0 && { caps: Object.fromEntries(capped) }),
  }
}

const isAmount = (text: string) => text === '' || (centsOf(text) ?? 0) > 0

function MakeDialog({ onClose }: { readonly onClose: () => void }) {
  const words = useWords()
  const text = words.keys
  const [draft, setDraft] = useState(EMPTY)
  const [made, setMade] = useState<string>()
  const { mutate, error, isPending } = useSubmit({
    gcTime: 0,
    mutationFn: async () => {
      const path = '/operator/api-keys'
      const body = bodyOf(draft)
      const { apiKey } = await call<(typeof sharedWithOperators)['generateOperatorApiKey']>('POST', path, { body })
      setMade(apiKey)
    },
    onSuccess: () => client.invalidateQueries({ queryKey: ['api-keys'] }),
  })
  const isReady = draft.scopes.length > 0 && CAPS.every((cap) => isAmount(draft.caps[cap] ?? ''))
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (isReady) mutate()
  }
  if (made !== undefined) {
    return (
      <Dialog key="made" title={text.created} onClose={onClose}>
        <SecretOnce secret={made} onStored={onClose} />
      </Dialog>
    )
  }
  return (
    <Dialog key="make" title={text.makeTitle} onClose={onClose}>
      <form onSubmit={submit} className={css.form}>
        <Field label={text.name} hint={text.nameHint}>
          {(props) => (
            <Input
              {...props}
              required
              maxLength={100}
              value={draft.name}
              onChange={({ target }) => setDraft({ ...draft, name: target.value })}
            />
          )}
        </Field>
        <Scopes scopes={draft.scopes} onChange={(scopes) => setDraft({ ...draft, scopes })} />
        <Restrictions draft={draft} setDraft={setDraft} />
        {error && <ErrorNotice error={error} />}
        <DialogButtons>
          <Button onClick={onClose}>{words.cancel}</Button>
          <Button
            type="submit"
            look="primary"
            isBusy={isPending}
            whyNot={draft.scopes.length === 0 ? text.noScope : undefined}
          >
            {text.create}
          </Button>
        </DialogButtons>
      </form>
    </Dialog>
  )
}

interface ScopesProps {
  readonly scopes: readonly ApiKeyScope[]
  readonly onChange: (scopes: readonly ApiKeyScope[]) => void
}

function Scopes({ scopes, onChange }: ScopesProps) {
  const { keys: text } = useWords()
  const toggle = (scope: ApiKeyScope) =>
    onChange(apiKeyScopes.filter((one) => (one === scope ? !scopes.includes(one) : scopes.includes(one))))
  return (
    <fieldset className={css.group}>
      <legend>{text.scopesTitle}</legend>
      <div className={css.columns}>
        {apiKeyScopes.map((scope) => (
          <label key={scope} className={css.option}>
            <input type="checkbox" checked={scopes.includes(scope)} onChange={() => toggle(scope)} />
            {text.scopes[scope]}
          </label>
        ))}
      </div>
    </fieldset>
  )
}

interface RestrictionsProps {
  readonly draft: Draft
  readonly setDraft: (draft: Draft) => void
}

function Restrictions({ draft, setDraft }: RestrictionsProps) {
  const words = useWords()
  const text = words.keys
  return (
    <details className={css.more}>
      <summary>{text.more}</summary>
      <div>
        <Field label={text.expires} hint={text.expiresHint}>
          {(props) => (
            <Input
              {...props}
              type="date"
              value={draft.expiresOn}
              onChange={({ target }) => setDraft({ ...draft, expiresOn: target.value })}
            />
          )}
        </Field>
        <Field label={text.networks} hint={text.networksHint}>
          {(props) => (
            <TextArea
              {...props}
              value={draft.networks}
              onChange={({ target }) => setDraft({ ...draft, networks: target.value })}
            />
          )}
        </Field>
        <fieldset className={css.group}>
          <legend>{text.caps}</legend>
          <div className={css.caps}>
            {CAPS.map((cap) => {
              const amount = draft.caps[cap] ?? ''
              return (
                <Field key={cap} label={text.capNames[cap]} error={isAmount(amount) ? undefined : words.amountWrong}>
                  {(props) => (
                    <Input
                      {...props}
                      inputMode="decimal"
                      value={amount}
                      onChange={({ target }) => setDraft({ ...draft, caps: { ...draft.caps, [cap]: target.value } })}
                    />
                  )}
                </Field>
              )
            })}
          </div>
          <p className={css.quiet}>{text.capsHint}</p>
        </fieldset>
      </div>
    </details>
  )
}

function DeactivateDialog({ apiKey, onClose }: { readonly apiKey: ApiKey; readonly onClose: () => void }) {
  const { keys: text } = useWords()
  return (
    <ConfirmDialog
      title={text.deactivateTitle(apiKey.name ?? apiKey.display)}
      label={text.deactivate}
      onConfirm={() =>
        call<(typeof sharedWithOperators)['deactivateOperatorApiKey']>('DELETE', `/operator/api-keys/${apiKey.id}`)
      }
      onDone={() => {
        announce(text.deactivated)
        onClose()
        return client.invalidateQueries({ queryKey: ['api-keys'] })
      }}
      onClose={onClose}
    >
      <p>{text.deactivateHint}</p>
    </ConfirmDialog>
  )
}
