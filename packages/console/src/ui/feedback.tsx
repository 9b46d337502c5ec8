import { type ReactNode, useEffect, useRef, useState, useSyncExternalStore } from 'react'
import { ApiError } from '../api.ts'
import { useLanguage, useWords } from '../words/words.tsx'
import { Button, IconButton } from './controls.tsx'
import css from './feedback.module.css'

/** What a page says about itself: that it waits, that it is empty, that something failed, that something was done. */

/** Keeps its room from the first moment, and shows itself after 150 ms. */
export function Waiting({ lines = 3 }: { readonly lines?: number }) {
  const words = useWords()
  return (
    <div className={css.waiting} role="status">
      <span className="visually-hidden">{words.loading}</span>
      {Array.from({ length: lines }, (_, line) => line).map((line) => (
        <span key={line} className={css.bone} data-line={line % 3} />
      ))}
    </div>
  )
}

interface EmptyProps {
  readonly title: string
  readonly children?: ReactNode
  readonly action?: ReactNode
}

export function Empty({ title, children, action }: EmptyProps) {
  return (
    <div className={css.empty}>
      <h2>{title}</h2>
      {children && <p>{children}</p>}
      {action}
    </div>
  )
}

interface ErrorProps {
  readonly error: unknown
  readonly onRetry?: (() => void) | undefined
}

/** Sentence, cause, cure and the correlation id of an error. */
export function ErrorNotice({ error, onRetry }: ErrorProps) {
  const words = useWords()
  const help = useErrorHelp(error)
  const isApi = error instanceof ApiError
  return (
    <div className={css.notice} data-tone="bad" role="alert">
      <p className={css.noticeTitle}>{errorText(error, words)}</p>
      {help && isApi && !error.isOfRead && (
        <p>
          {help.cause} {help.cure}
        </p>
      )}
      {isApi && error.fields.length > 0 && (
        <ul className={css.faults}>
          {error.fields.map(({ field, message }) => (
            <li key={field} lang="en">
              {message}
            </li>
          ))}
        </ul>
      )}
      {isApi && error.correlationId !== undefined && (
        <p className={css.correlation}>
          {words.correlationId} <CopyText text={error.correlationId} />
        </p>
      )}
      {onRetry && (
        <div>
          <Button onClick={onRetry}>{words.tryAgain}</Button>
        </div>
      )}
    </div>
  )
}

export function errorText(error: unknown, words: ReturnType<typeof useWords>): string {
  const code = error instanceof ApiError ? error.code : 'unknown'
  if (code === 'internal_error' && error instanceof ApiError && error.isOfRead) return words.readFailed
  return words.errors[code] ?? words.errors.unknown
}

interface Help {
  readonly cause: string
  readonly cure: string
}

/** Loaded when the first error is shown. */
function useErrorHelp(error: unknown): Help | undefined {
  const { language } = useLanguage()
  const [help, setHelp] = useState<Readonly<Record<string, Help>>>()
  useEffect(() => {
    const load = language === 'en' ? import('../words/help-en.ts') : import('../words/help-pt-BR.ts')
    load.then(
      ({ errorHelp }) => setHelp(errorHelp),
      () => undefined,
    )
  }, [language])
  return error instanceof ApiError ? help?.[error.code] : undefined
}

export function Notice({ tone = 'calm', children }: { tone?: 'calm' | 'wait' | 'bad' | 'ok'; children: ReactNode }) {
  return (
    <div className={css.notice} data-tone={tone}>
      {children}
    </div>
  )
}

const DONE_MS = 1_600

/** Copies a text; the button says that it did. */
export function CopyButton({ text, label }: { readonly text: string; readonly label: string }) {
  const words = useWords()
  const [isDone, setIsDone] = useState(false)
  useEffect(() => {
    const timer = isDone ? setTimeout(() => setIsDone(false), DONE_MS) : undefined
    return () => clearTimeout(timer)
  }, [isDone])
  const copy = () =>
    navigator.clipboard.writeText(text).then(
      () => setIsDone(true),
      () => announce(words.copyFailed),
    )
  return (
    <>
      <IconButton icon={isDone ? 'check' : 'copy'} label={label} onClick={copy} />
      <span className="visually-hidden" role="status">
        {isDone ? words.copied : ''}
      </span>
    </>
  )
}

/** An id, whole, with a button that copies it. */
export function CopyText({ text, label }: { readonly text: string; readonly label?: string }) {
  const words = useWords()
  return (
    <span className={css.copyText}>
      <code>{text}</code>
      <CopyButton text={text} label={label ?? words.copy} />
    </span>
  )
}

const TOAST_MS = 6_000

let toast: { readonly id: number; readonly text: string } | undefined
let lastId = 0
const listeners = new Set<() => void>()

function setToast(next: typeof toast): void {
  toast = next
  for (const listener of listeners) listener()
}

/** Shows for a few seconds that something was done. A new message replaces the one on screen. */
export function announce(text: string): void {
  lastId += 1
  const id = lastId
  setToast({ id, text })
  setTimeout(() => toast?.id === id && setToast(undefined), TOAST_MS)
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** In the top layer, so that it is seen above a dialog. */
export function Toast() {
  const shown = useSyncExternalStore(subscribe, () => toast)
  const ref = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const box = ref.current
    if (!box) return
    if (box.matches(':popover-open')) box.hidePopover()
    if (shown) box.showPopover()
  }, [shown])
  return (
    <div ref={ref} popover="manual" className={css.toast} role="status">
      {shown && <p key={shown.id}>{shown.text}</p>}
    </div>
  )
}
