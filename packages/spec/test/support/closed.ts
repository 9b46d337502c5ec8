/**
 * A schema that takes no field which it does not name. Who receives what we send is told to expect more; what we send is
 * judged by this.
 */
export function closed<Schema>(schema: Schema): Schema {
  if (typeof schema !== 'object' || schema === null) return schema
  if (Array.isArray(schema)) return schema.map(closed) as Schema
  const inner = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, closed(value)]))
  const isObject = inner.type === 'object' && inner.properties !== undefined
  return (isObject ? { additionalProperties: false, ...inner } : inner) as Schema
}
