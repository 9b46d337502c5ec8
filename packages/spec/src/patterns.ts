import { PIX_KEY_TYPE, pixKeyTypes } from './pix-key.ts'
import { CURSOR, PLAIN_TEXT, REFERENCE } from './shapes.ts'

/** What an error says, after the field's name, of text that does not match a pattern of ours: never the pattern. */
export const patternFaults: Readonly<Record<string, string>> = {
  [PLAIN_TEXT]: 'must not have control characters or half surrogates',
  [REFERENCE]: 'must consist of A-Z a-z 0-9 . _ : -',
  [PIX_KEY_TYPE]: `must be one of ${pixKeyTypes.join(', ')}`,
  [CURSOR]: 'must be the nextCursor of the page before',
}
