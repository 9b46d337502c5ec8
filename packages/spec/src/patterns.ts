import { PIX_KEY_TYPE, pixKeyTypes } from './pix-key.ts'
import { CURSOR, EXTERNAL_ID, EXTERNAL_ID_OR_NONE, FREE_TEXT, PLAIN_TEXT, TEXT_OF_LINES } from './shapes.ts'

const VISIBLE = 'must not have control characters, bidi overrides, line separators or half surrogates'
const PRINTABLE = 'must consist of printable characters, without a space at either end'

/** What an error says, after the field's name, of text that does not match a pattern of ours: never the pattern. */
export const patternFaults: Readonly<Record<string, string>> = {
  [PLAIN_TEXT]: 'must not have control characters or half surrogates',
  [FREE_TEXT]: VISIBLE,
  [TEXT_OF_LINES]: VISIBLE,
  [EXTERNAL_ID]: PRINTABLE,
  [EXTERNAL_ID_OR_NONE]: PRINTABLE,
  [PIX_KEY_TYPE]: `must be one of ${pixKeyTypes.join(', ')}`,
  [CURSOR]: 'must be the nextCursor of the page before',
}
