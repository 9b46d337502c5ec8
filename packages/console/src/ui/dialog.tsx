import { type ReactNode, useId, useLayoutEffect, useRef } from 'react'
import { useWords } from '../words/words.tsx'
import { Button, IconButton } from './controls.tsx'
import css from './dialog.module.css'
import { ErrorNotice } from './feedback.tsx'
import { useSubmit } from './submit.ts'

interface DialogProps {
  readonly title: string
  readonly onClose: () => void
  readonly children: ReactNode
  readonly look?: 'form' | 'sheet' | 'search' | 'cover'
  /** A click beside it closes it: only where nothing is typed. */
  readonly isLight?: boolean
}

/** A native modal dialog. The browser keeps the focus in it and gives it back. */
export function Dialog({ title, onClose, children, look = 'form', isLight = false }: DialogProps) {
  const ref = useRef<HTMLDialogElement>(null)
  const titleId = useId()
  const words = useWords()
  useLayoutEffect(() => {
    const dialog = ref.current
    if (!dialog) return undefined
    dialog.showModal()
    // Not the button that closes it, which comes first.
    const first = dialog.querySelector<HTMLElement>('input, textarea, select')
    first?.focus()
    // A proposed value is replaced by what is typed.
    if (first instanceof HTMLInputElement) first.select()
    // Closed before it is removed: only then the focus goes back to where it was.
    return () => dialog.close()
  }, [])
  const isBare = look === 'search' || look === 'cover'
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape closes a dialog by itself
    <dialog
      ref={ref}
      className={css.dialog}
      data-look={look}
      aria-labelledby={titleId}
      onCancel={(event) => {
        event.preventDefault()
        if (event.target === ref.current) onClose()
      }}
      onClick={(event) => {
        if (isLight && event.target === ref.current) onClose()
      }}
    >
      <div className={css.inside}>
        <header className={isBare ? 'visually-hidden' : css.head}>
          <h2 id={titleId}>{title}</h2>
          {!isBare && <IconButton icon="close" label={words.close} onClick={onClose} />}
        </header>
        {children}
      </div>
    </dialog>
  )
}

/** The buttons at the end of a form. */
export function DialogButtons({ children }: { readonly children: ReactNode }) {
  return <div className={css.buttons}>{children}</div>
}

interface ConfirmProps<Answer> {
  readonly title: string
  /** Consequences of a yes. */
  readonly children: ReactNode
  /** Text of the button that confirms. */
  readonly label: string
  /** Text of the button that does not. */
  readonly back?: string
  readonly onConfirm: () => Promise<Answer>
  readonly onDone: (answer: Answer) => unknown
  readonly onClose: () => void
}

/** Asks before an action that needs nothing but a yes. */
export function ConfirmDialog<Answer>({
  title,
  children,
  label,
  back,
  onConfirm,
  onDone,
  onClose,
}: ConfirmProps<Answer>) {
  const words = useWords()
  const { mutate, error, isPending } = useSubmit({ mutationFn: onConfirm, onSuccess: onDone })
  return (
    <Dialog title={title} onClose={onClose}>
      {children}
      {error && <ErrorNotice error={error} />}
      <DialogButtons>
        <Button onClick={onClose}>{back ?? words.cancel}</Button>
        <Button look="danger" isBusy={isPending} onClick={() => mutate()}>
          {label}
        </Button>
      </DialogButtons>
    </Dialog>
  )
}
