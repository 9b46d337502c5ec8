import { eventSchemas, testEventSchema } from '@pixgate/spec'
import { GENERATED, type GeneratedDocument, json } from './document.ts'

/** The JSON Schema of each notification's body, for receivers in any language. */
export function eventSchemaDocuments(): GeneratedDocument[] {
  return Object.entries({ ...eventSchemas, webhook_test: testEventSchema }).map(([type, schema]) =>
    json(`docs/generated/events/${type}.schema.json`, {
      $comment: GENERATED,
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      $id: `urn:pixgate:event:${type}`,
      ...schema,
      title: type,
    }),
  )
}
