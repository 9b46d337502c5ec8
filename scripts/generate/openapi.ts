import { endpoints } from '@pixgate/spec'
import { openApiDocument } from '../../packages/server/src/platform/http/openapi.ts'
import { apiInfo } from '../../packages/server/src/reference/info.ts'
import { GENERATED, type GeneratedDocument, json } from './document.ts'

/** The OpenAPI document of every endpoint. */
export function openApi(): GeneratedDocument {
  const { openapi, ...rest } = openApiDocument(endpoints, apiInfo)
  return json('docs/generated/openapi.json', { openapi, 'x-generated': GENERATED, ...rest })
}
