import { PIX_KEY_TYPE, pixKeyTypes } from './pix-key.ts'
import {
  ACTION_NAME,
  CASE_KIND,
  CURSOR,
  DOCUMENT_TEXT,
  END_TO_END_ID,
  EXTERNAL_ID,
  EXTERNAL_ID_PUBLISHED,
  FREE_TEXT,
  PERSON_NAME,
  PLAIN_TEXT,
  RETURN_ID,
  STATUS_NAME,
  TEXT_OF_LINES,
  VISIBLE_ASCII,
} from './shapes.ts'

const VISIBLE = 'must not have control characters, bidi overrides, line separators or half surrogates'
const PRINTABLE =
  'must consist of printable characters: no control, format or unassigned character, none without a shape, no space at either end'

/** Faults of text that does not match a pattern, to follow the field's name. Never the pattern itself. */
export const patternFaults: Readonly<Record<string, string>> = {
  [PLAIN_TEXT]: 'must not have control characters or half surrogates',
  [FREE_TEXT]: VISIBLE,
  [TEXT_OF_LINES]: VISIBLE,
  [EXTERNAL_ID]: PRINTABLE,
  [PERSON_NAME]: 'must consist of Latin letters; spaces, points, hyphens and apostrophes may stand between them',
  [PIX_KEY_TYPE]: `must be one of ${pixKeyTypes.join(', ')}`,
  [VISIBLE_ASCII]: 'must consist of visible ASCII characters, without spaces',
  [STATUS_NAME]: 'must be the name of a state: capitals and underscores',
  [ACTION_NAME]: 'must be the name of an action: lower-case letters, underscores and points',
  [DOCUMENT_TEXT]: 'must be a CPF or CNPJ',
  [END_TO_END_ID]:
    'must be an end-to-end id: E, 8 capitals or digits, 12 digits, and 11 letters or digits, nothing around them',
  [RETURN_ID]: 'must be a return id: D, 8 capitals or digits, 12 digits, and 11 letters or digits, nothing around them',
  [CASE_KIND]: 'must be 1 to 64 small letters and underscores',
  [CURSOR]: 'must be the nextCursor of the page before',
}

/**
 * Published replacements of patterns that only ECMAScript supports. Clients generated for Python or Go would fail
 * before they send anything.
 * @source rules#reference.4
 */
export const publishedPatterns: Readonly<Record<string, string>> = { [EXTERNAL_ID]: EXTERNAL_ID_PUBLISHED }
