import type { TSchema } from 'typebox'

/** Of a schema what is looked at. */
interface Shape {
  readonly type?: string
  readonly anyOf?: readonly Shape[]
  readonly properties?: Readonly<Record<string, Shape>>
  readonly required?: readonly string[]
}

/**
 * A valid value without the fields that are absent by their value: those that may be left out and are `null`, and texts
 * that may be left out and are empty.
 * @source rules#http.16
 */
export function withoutAbsent(value: unknown, schema: TSchema): unknown {
  // Most leave nothing out: then no copy is made, at any level.
  return hasAbsent(value, schema as Shape) ? present(value, schema as Shape) : value
}

function hasAbsent(value: unknown, shape: Shape): boolean {
  const { properties, required = [] } = objectOf(shape) ?? {}
  if (!properties || !isRecord(value)) return false
  return Object.keys(value).some((name) => {
    const field = value[name]
    return (isAbsent(field) && !required.includes(name)) || hasAbsent(field, properties[name] ?? {})
  })
}

function present(value: unknown, shape: Shape): unknown {
  const { properties, required = [] } = objectOf(shape) ?? {}
  if (!properties || !isRecord(value)) return value
  const left = Object.entries(value).filter(([name, field]) => required.includes(name) || !isAbsent(field))
  return Object.fromEntries(left.map(([name, field]) => [name, present(field, properties[name] ?? {})]))
}

function isAbsent(field: unknown): boolean {
  return field === null || field === ''
}

/** The object among what a value may be. */
function objectOf(shape: Shape): Shape | undefined {
  return shape.properties ? shape : shape.anyOf?.find(({ properties }) => properties)
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
