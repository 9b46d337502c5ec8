import { Button } from '../ui/controls.tsx'
import { DialogButtons } from '../ui/dialog.tsx'
import { CopyText, Notice } from '../ui/feedback.tsx'
import { useWords } from '../words/words.tsx'
import css from './detail.module.css'

/** A secret that is shown this once. */
export function Secret({ secret, onClose }: { readonly secret: string; readonly onClose: () => void }) {
  const words = useWords()
  return (
    <div className={css.inside}>
      <Notice tone="wait">{words.webhooks.secretOnce}</Notice>
      <CopyText text={secret} label={words.webhooks.copySecret} />
      <p className={css.quiet}>{words.webhooks.secretUse}</p>
      <DialogButtons>
        <Button look="primary" onClick={onClose}>
          {words.webhooks.secretKept}
        </Button>
      </DialogButtons>
    </div>
  )
}
