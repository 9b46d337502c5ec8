/** Where something is in a value: names of fields, or places of lists. */
export type Path = readonly string[]

/** The paths of all texts in a value. */
export function textsIn(value: unknown, at: Path = []): Path[] {
  if (typeof value === 'string') return [at]
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, inner]) => textsIn(inner, [...at, name]))
}

/** The same value with something else at a path; objects on the way to it are made. */
export function withAt(value: unknown, [name, ...rest]: Path, change: (there: unknown) => unknown): unknown {
  if (name === undefined) return change(value)
  if (Array.isArray(value)) return value.with(Number(name), withAt(value[Number(name)], rest, change))
  const object = (value ?? {}) as Record<string, unknown>
  return { ...object, [name]: withAt(object[name], rest, change) }
}
