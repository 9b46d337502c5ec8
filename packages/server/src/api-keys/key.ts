import { API_KEY_PATTERN } from '@pixgate/spec'
import { tokenKind } from '../credentials/token-text.ts'

export { type Mode as ApiKeyMode, SECRET_BYTES } from '../credentials/token-text.ts'

/** The text of API keys. @source rules#api-keys.2 */
export const {
  format: formatKey,
  modeOf,
  displayOf,
  length: KEY_LENGTH,
} = tokenKind(API_KEY_PATTERN, { sandbox: 'pix_test_', production: 'pix_live_' })
