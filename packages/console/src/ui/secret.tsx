import { useWords } from '../words/words.tsx'
import { Button } from './controls.tsx'
import { DialogButtons } from './dialog.tsx'
import { CopyText, Notice } from './feedback.tsx'
import css from './secret.module.css'

interface SecretProps {
  readonly secret: string
  readonly hint?: string
  readonly onStored: () => void
}

/** A secret, this once. It is in the state of its dialog alone, and gone with it. */
export function SecretOnce({ secret, hint, onStored }: SecretProps) {
  const words = useWords()
  return (
    <>
      <Notice tone="wait">
        <p>{words.secrets.once}</p>
        {hint && <p>{hint}</p>}
      </Notice>
      <div className={css.secret}>
        <CopyText text={secret} />
      </div>
      <DialogButtons>
        <Button look="primary" onClick={onStored}>
          {words.secrets.stored}
        </Button>
      </DialogButtons>
    </>
  )
}
