import { OPERATOR_TOKEN_PATTERN } from '@pixgate/spec'
import { tokenKind } from '../credentials/token-text.ts'

/** The text of operators' tokens. @source rules#operators.2 */
export const {
  format: formatToken,
  modeOf,
  displayOf,
} = tokenKind(OPERATOR_TOKEN_PATTERN, { sandbox: 'pix_op_test_', production: 'pix_op_live_' })
