import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { reais, signedReais } from '../format.ts'
import { useFormat, useWords } from '../words/words.tsx'
import css from './data.module.css'

/** How values are shown: states, amounts, times, facts, tables. */

export type Tone = 'ok' | 'wait' | 'bad' | 'calm'

/** Longer texts may take two lines on a phone. */
const BADGE_LINE = 16

export function Badge({ tone, children }: { readonly tone: Tone; readonly children: ReactNode }) {
  const isLong = typeof children === 'string' && children.length > BADGE_LINE
  return (
    <span className={css.badge} data-tone={tone} data-long={isLong || undefined}>
      {children}
    </span>
  )
}

interface AmountProps {
  readonly cents: number
  /** Shows a plus, too. */
  readonly isSigned?: boolean
}

export function Amount({ cents, isSigned = false }: AmountProps) {
  return <span className={css.amount}>{isSigned ? signedReais(cents) : reais(cents)}</span>
}

/** An amount of the ledger, as debit or credit. */
export function Sided({ cents }: { readonly cents: number }) {
  const words = useWords()
  const side = cents < 0 ? words.ledger.debit : words.ledger.credit
  return (
    <span className={css.amount}>
      {reais(Math.abs(cents))}
      {cents === 0 ? (
        <span className={css.side}>{'\u2007'}</span>
      ) : (
        <abbr className={css.side} title={side.name}>
          {side.sign}
        </abbr>
      )}
    </span>
  )
}

/** A time; the whole of it on hover. */
export function When({
  at,
  as = 'short',
}: {
  readonly at: string
  readonly as?: 'short' | 'moment' | 'time' | 'hour'
}) {
  const format = useFormat()
  return (
    <time dateTime={at} title={`${format.day(at)} ${format.time(at)}`} className={css.when}>
      {format[as](at)}
    </time>
  )
}

export function Ago({ at }: { readonly at: string | null }) {
  const words = useWords()
  const format = useFormat()
  if (at === null) return words.never
  return (
    <time dateTime={at} title={`${format.day(at)} ${format.time(at)}`}>
      {format.ago(at, Date.now())}
    </time>
  )
}

interface FactsProps {
  readonly facts: readonly (readonly [name: string, value: ReactNode])[]
  /** Ids have columns in which they stand in one line. */
  readonly of?: 'ids'
}

/** Names with their values; those without a value are left out. */
export function Facts({ facts, of }: FactsProps) {
  return (
    <dl className={css.facts} data-of={of}>
      {facts.map(([name, value]) =>
        value === null || value === undefined || value === '' || value === false ? null : (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ),
      )}
    </dl>
  )
}

/** Facts as they are kept: names with values, or JSON where they are deeper. */
export function KeptFacts({ value }: { readonly value: unknown }) {
  const words = useWords()
  const names: Readonly<Record<string, string>> = words.factNames
  if (value === null || value === undefined) return null
  if (typeof value === 'object' && Object.keys(value).length === 0) return null
  const isFlat =
    typeof value === 'object' &&
    !Array.isArray(value) &&
    Object.values(value).every((one) => one === null || typeof one !== 'object')
  if (!isFlat) return <Bytes text={JSON.stringify(value)} />
  return (
    <Facts
      facts={Object.entries(value).map(([name, one]) => [
        names[name] ?? name,
        one !== null && <FactValue key={name} name={name} value={one} />,
      ])}
    />
  )
}

/** Milliseconds of a time in this century; smaller numbers are counts. */
const TIME_MIN = 1e12

function FactValue({ name, value }: { readonly name: string; readonly value: unknown }) {
  if (typeof value === 'number' && /cents$/i.test(name)) return <Amount cents={value} />
  if (typeof value === 'number' && /At$/.test(name) && value > TIME_MIN) {
    return <When at={new Date(value).toISOString()} as="moment" />
  }
  if (/^(?:operation|cashIn)Id$/.test(name)) {
    return (
      <Link href={`/payments/${value}`}>
        <code>{String(value)}</code>
      </Link>
    )
  }
  return name === 'reason' ? String(value) : <code>{String(value)}</code>
}

interface TableProps {
  readonly caption: string
  readonly columns: readonly (readonly [name: string, kind?: 'end' | 'wide' | 'wide-end'])[]
  readonly children: ReactNode
}

/** `wide` columns are left out on a phone, where the first column has their values. */
export function Table({ caption, columns, children }: TableProps) {
  return (
    <table className={css.table}>
      <caption className="visually-hidden">{caption}</caption>
      <thead>
        <tr>
          {columns.map(([name, kind]) => (
            <th key={name} scope="col" data-kind={kind}>
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  )
}

/** Text bytes of the bank or of a notification, JSON indented. */
export function Bytes({ text }: { readonly text: string }) {
  const words = useWords()
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also by keyboard
    <section className={css.bytes} tabIndex={0} aria-label={words.bytes}>
      <pre>{indented(text)}</pre>
    </section>
  )
}

function indented(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}

/** Text of Base64; bytes that are no UTF-8 show as U+FFFD. */
export function textOfBase64(base64: string): string {
  try {
    return new TextDecoder().decode(Uint8Array.from(atob(base64), (character) => character.charCodeAt(0)))
  } catch {
    return base64
  }
}

export { css as dataCss }
