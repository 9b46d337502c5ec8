import { endpoints } from '@pixgate/spec'
import packageJson from '../../package.json' with { type: 'json' }
import { openApiDocument } from '../../packages/server/src/platform/http/openapi.ts'
import { GENERATED, type GeneratedDocument, json } from './document.ts'

/** The OpenAPI document of every endpoint. */
export function openApi(): GeneratedDocument {
  const { openapi, ...rest } = openApiDocument(endpoints, {
    title: 'Pixgate',
    version: packageJson.version,
    description: packageJson.description,
    license: packageJson.license,
    defaultHost: '127.0.0.1:8080',
  })
  return json('docs/generated/openapi.json', { openapi, 'x-generated': GENERATED, ...rest })
}
