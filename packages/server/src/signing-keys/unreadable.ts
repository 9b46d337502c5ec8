import type { NotOpened } from '../platform/sealing.ts'
import { StartupError } from '../platform/startup-error.ts'

/** Something that is stored sealed cannot be used: its encryption key is not configured, or it was changed. */
export class Unreadable extends StartupError {}

/** What to do about it, for the end of a sentence. */
export const WHAT_TO_DO: Readonly<Record<NotOpened['reason'], string>> = {
  another_key:
    'PIXGATE_ENCRYPTION_KEY is not the one it was stored with, nor is PIXGATE_ENCRYPTION_KEY_PREVIOUS: put that one back',
  changed: 'what is stored was changed, or is that of another key: restore the row from a backup, or make another key',
}
