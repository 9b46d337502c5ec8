import { endpoints } from '@pixgate/spec'
import { llmsText } from '../../packages/server/src/reference/llms.ts'
import type { GeneratedDocument } from './document.ts'

/** `llms.txt` of the repository: as the service serves it, with paths in place of addresses. */
export function llmsDocument(): GeneratedDocument {
  const places = {
    reference: 'README.md',
    errors: 'docs/generated/errors.md',
    openapi: 'docs/generated/openapi.json',
  }
  return { path: 'llms.txt', content: llmsText(Object.values(endpoints), places) }
}
