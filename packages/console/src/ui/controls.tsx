import {
  type ComponentProps,
  type Dispatch,
  type ReactNode,
  type SetStateAction,
  useEffect,
  useId,
  useState,
} from 'react'
import { Link } from 'wouter'
import { centsOf, reais } from '../format.ts'
import { useWords } from '../words/words.tsx'
import css from './controls.module.css'
import { Icon, type IconName } from './icons.tsx'

/** Buttons and fields. */

type Look = 'primary' | 'plain' | 'quiet' | 'danger'

interface ButtonProps extends Omit<ComponentProps<'button'>, 'className'> {
  readonly look?: Look
  readonly icon?: IconName
  readonly isBusy?: boolean
  /** Why it cannot be used now; it stays in the order of focus and says so. */
  readonly whyNot?: string | undefined
}

export function Button({ look = 'plain', icon, isBusy = false, whyNot, children, onClick, ...props }: ButtonProps) {
  const reasonId = useId()
  const isOff = isBusy || whyNot !== undefined
  return (
    <>
      <button
        type="button"
        {...props}
        className={css.button}
        data-look={look}
        data-busy={isBusy || undefined}
        aria-disabled={isOff || undefined}
        aria-describedby={whyNot === undefined ? props['aria-describedby'] : reasonId}
        onClick={isOff ? (event) => event.preventDefault() : onClick}
      >
        {icon && <Icon name={icon} size={18} />}
        {children}
      </button>
      {whyNot !== undefined && (
        <span id={reasonId} className={css.whyNot}>
          {children}: {whyNot}
        </span>
      )}
    </>
  )
}

/** Back to the list. */
export function BackLink({ href, children }: { readonly href: string; readonly children: ReactNode }) {
  return (
    <Link href={href} className={css.back ?? ''}>
      <Icon name="left" size={18} />
      {children}
    </Link>
  )
}

/** A button that only shows an icon. */
export function IconButton({ icon, label, ...props }: { icon: IconName; label: string } & ComponentProps<'button'>) {
  return (
    <button type="button" {...props} className={css.iconButton} aria-label={label} title={label}>
      <Icon name={icon} />
    </button>
  )
}

interface Described {
  readonly id: string
  readonly 'aria-describedby': string | undefined
  readonly 'aria-invalid': true | undefined
}

interface FieldProps {
  readonly label: string
  readonly hint?: ReactNode
  readonly error?: string | undefined
  readonly children: (props: Described) => ReactNode
}

/** A label with its input, a hint and the error of the input. */
export function Field({ label, hint, error, children }: FieldProps) {
  const id = useId()
  const described = [hint !== undefined && `${id}-hint`, error !== undefined && `${id}-error`].filter(Boolean).join(' ')
  return (
    <div className={css.field}>
      <label htmlFor={id}>{label}</label>
      {children({ id, 'aria-describedby': described || undefined, 'aria-invalid': error ? true : undefined })}
      {hint !== undefined && (
        <p id={`${id}-hint`} className={css.hint}>
          {hint}
        </p>
      )}
      {error !== undefined && (
        <p id={`${id}-error`} className={css.fieldError}>
          {error}
        </p>
      )}
    </div>
  )
}

export function Input(props: Omit<ComponentProps<'input'>, 'className'>) {
  return <input autoComplete="off" spellCheck={false} {...props} className={css.input} />
}

interface ReasonProps {
  readonly value: string
  readonly hint: string
  readonly onChange: (value: string) => void
}

/** Every order has a reason. */
export function ReasonField({ value, hint, onChange }: ReasonProps) {
  const words = useWords()
  return (
    <Field label={words.reason} hint={hint}>
      {(props) => (
        <Input
          {...props}
          required
          minLength={REASON_MIN}
          maxLength={REASON_MAX}
          value={value}
          onChange={({ target }) => onChange(target.value)}
        />
      )}
    </Field>
  )
}

export const REASON_MIN = 3
const REASON_MAX = 140

export function TextArea(props: Omit<ComponentProps<'textarea'>, 'className'>) {
  return <textarea rows={2} {...props} className={css.input} />
}

export function Select(props: Omit<ComponentProps<'select'>, 'className'>) {
  return <select {...props} className={css.select} />
}

interface ChoiceProps<Value extends string> {
  readonly label: string
  readonly value: Value
  readonly options: readonly (readonly [value: Value, text: string])[]
  readonly onChange: (value: Value) => void
}

/** One of a few, in a row. */
export function Choice<Value extends string>({ label, value, options, onChange }: ChoiceProps<Value>) {
  const name = useId()
  return (
    <fieldset className={css.choice}>
      <legend className="visually-hidden">{label}</legend>
      {options.map(([option, text]) => (
        <label key={option} data-on={option === value || undefined}>
          <input type="radio" name={name} checked={option === value} onChange={() => onChange(option)} />
          {text}
        </label>
      ))}
    </fieldset>
  )
}

/** What is wrong with an amount that was typed. */
export function useAmountError(amount: string, most: number): string | undefined {
  const words = useWords()
  const cents = centsOf(amount)
  if (cents === undefined || cents < 1) return words.amountWrong
  return cents > most ? words.payment.refund.tooMuch(reais(most)) : undefined
}

/** Draft of fields whose values are in the address. It follows the address without a remount, so the focus stays. */
export function useDraft<Values>(values: Values): [Values, Dispatch<SetStateAction<Values>>] {
  const text = JSON.stringify(values)
  const [draft, setDraft] = useState(values)
  useEffect(() => setDraft(JSON.parse(text)), [text])
  return [draft, setDraft]
}
