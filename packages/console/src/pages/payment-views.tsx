import { type FormEvent, useState } from 'react'
import { dayKey, daysBefore } from '../format.ts'
import { useSession } from '../session.tsx'
import { Button, Field, Input, Select } from '../ui/controls.tsx'
import { Dialog, DialogButtons } from '../ui/dialog.tsx'
import { announce } from '../ui/feedback.tsx'
import { useWords } from '../words/words.tsx'
import css from './administration.module.css'
import { type Filters, filtersOf, NO_FILTERS, PERIODS } from './payment-filters.ts'

/** Views of the list of payments: filters with a name. A person's own are kept in this browser. */

interface View {
  readonly name: string
  /** A day from which a period runs until today is kept as the name of the period, so that «today» is another day tomorrow. */
  readonly filters: Filters
}

const STARTS = ['from', 'paid_from'] as const

/** Views that everybody has, by their names in `words/`. */
const READY = {
  paidToday: { kind: 'cash_in', paid_from: 'today' },
  failedToday: { kind: 'cash_out', status: 'FAILED', from: 'today' },
  unknown: { status: 'PROVIDER_RESULT_UNKNOWN' },
} as const satisfies Readonly<Record<string, Filters>>

type ReadyName = keyof typeof READY

function withPeriods(filters: Filters, today: string): Filters {
  const period = (day: string | undefined) =>
    Object.entries(PERIODS).find(([, days]) => day === daysBefore(today, days))?.[0] ?? day
  const { from, to, paid_from, paid_to } = filters
  const named = { ...filters, ...(!to && { from: period(from) }), ...(!paid_to && { paid_from: period(paid_from) }) }
  return filtersOf((name) => named[name])
}

function withDays(filters: Filters, today: string): Filters {
  const days = STARTS.map((name) => {
    const days = PERIODS[filters[name] as keyof typeof PERIODS]
    return [name, days === undefined ? filters[name] : daysBefore(today, days)]
  })
  return { ...filters, ...Object.fromEntries(days) }
}

function storedAt(operatorId: string): string {
  return `pixgate-views-${operatorId}`
}

/** Stored views may be of another version. */
function storedViews(operatorId: string): readonly View[] {
  try {
    const stored: readonly View[] = JSON.parse(localStorage.getItem(storedAt(operatorId)) ?? '[]')
    return stored.map(({ name, filters }) => ({
      name: String(name),
      filters: filtersOf((filter) => filters[filter] && String(filters[filter])),
    }))
  } catch {
    return []
  }
}

/** The views, and which of them the filters are. */
export function useViews(filters: Filters) {
  const text = useWords().payments.views
  const { operator } = useSession()
  const [own, setOwn] = useState(() => storedViews(operator.id))
  const keep = (views: readonly View[]) => {
    localStorage.setItem(storedAt(operator.id), JSON.stringify(views))
    setOwn(views)
  }
  const ready = Object.entries(READY).map(([name, filters]): View => ({ name: text.ready[name as ReadyName], filters }))
  const now = JSON.stringify(withPeriods(filters, dayKey(Date.now())))
  return {
    ready,
    own,
    current: [...ready, ...own].find((view) => JSON.stringify(view.filters) === now),
    save: (name: string) => keep([...own.filter((view) => view.name !== name), { name, filters: JSON.parse(now) }]),
    remove: (view: View) => keep(own.filter((one) => one !== view)),
  }
}

type Views = ReturnType<typeof useViews>

interface SelectProps {
  readonly views: Views
  readonly set: (next: Filters) => void
}

export function ViewSelect({ views: { ready, own, current }, set }: SelectProps) {
  const text = useWords().payments.views
  const all = [...ready, ...own]
  const options = (of: readonly View[]) =>
    of.map((view) => (
      <option key={view.name} value={all.indexOf(view)}>
        {view.name}
      </option>
    ))
  return (
    <Select
      aria-label={text.label}
      value={current ? all.indexOf(current) : -1}
      onChange={({ target }) => {
        const view = all[Number(target.value)]
        set({ ...NO_FILTERS, ...(view && withDays(view.filters, dayKey(Date.now()))) })
      }}
    >
      <option value={-1}>{text.label}</option>
      <optgroup label={text.everybody}>{options(ready)}</optgroup>
      {own.length > 0 && <optgroup label={text.own}>{options(own)}</optgroup>}
    </Select>
  )
}

interface ButtonProps {
  readonly views: Views
  readonly filters: Filters
}

/** Gives the filters a name, or deletes the view that they are. */
export function ViewButton({ views: { own, current, save, remove }, filters }: ButtonProps) {
  const text = useWords().payments.views
  const [isNaming, setIsNaming] = useState(false)
  const mine = own.find((view) => view === current)
  if (Object.keys(filters).length === 0 || (current && !mine)) return null
  const saveOrDelete = () => {
    if (!mine) return setIsNaming(true)
    remove(mine)
    announce(text.deleted)
  }
  return (
    <>
      <Button
        look="quiet"
        whyNot={filters.document || filters.key ? text.notOfPeople : undefined}
        onClick={saveOrDelete}
      >
        {mine ? text.delete : text.save}
      </Button>
      {isNaming && (
        <NameDialog
          onClose={() => setIsNaming(false)}
          save={(name) => {
            save(name)
            announce(text.saved)
          }}
        />
      )}
    </>
  )
}

interface NameProps {
  readonly save: (name: string) => void
  readonly onClose: () => void
}

function NameDialog({ save, onClose }: NameProps) {
  const words = useWords()
  const text = words.payments.views
  const [name, setName] = useState('')
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (name.trim() === '') return
    save(name.trim())
    onClose()
  }
  return (
    <Dialog title={text.save} onClose={onClose}>
      <form onSubmit={submit} className={css.form}>
        <Field label={text.name} hint={text.nameHint}>
          {(props) => (
            <Input {...props} required maxLength={40} value={name} onChange={({ target }) => setName(target.value)} />
          )}
        </Field>
        <DialogButtons>
          <Button onClick={onClose}>{words.cancel}</Button>
          <Button type="submit" look="primary">
            {text.saveNow}
          </Button>
        </DialogButtons>
      </form>
    </Dialog>
  )
}
