import { endpoints } from '@pixgate/spec'
import { collectionOf } from '../../packages/server/src/reference/collection.ts'
import { apiInfo } from '../../packages/server/src/reference/info.ts'
import { llmsText } from '../../packages/server/src/reference/llms.ts'
import { type GeneratedDocument, json } from './document.ts'

const COLLECTION = 'docs/generated/postman-collection.json'

/** The collection of requests that the service serves too. */
export function collectionDocument(): GeneratedDocument {
  return json(COLLECTION, collectionOf(Object.values(endpoints), `http://${apiInfo.defaultHost}`))
}

/** `llms.txt` of the repository: what the service serves, with paths in place of addresses. */
export function llmsDocument(): GeneratedDocument {
  const places = {
    reference: 'README.md',
    errors: 'docs/generated/errors.md',
    openapi: 'docs/generated/openapi.json',
    collection: COLLECTION,
  }
  return { path: 'llms.txt', content: llmsText(Object.values(endpoints), places) }
}
