/** What belongs to HTTP itself, which a document does not describe. */
const OF_HTTP = ['connection', 'content-length', 'content-type', 'date', 'keep-alive', 'transfer-encoding']

/** The headers of an answer in a document, by their names. */
export type DeclaredHeaders = Readonly<Record<string, { readonly required?: boolean }>>

/** In what the headers of an answer differ from those that a document declares for it. */
export function headerFaults(declared: DeclaredHeaders, headers: Iterable<string>): string[] {
  const sent = [...headers].map((name) => name.toLowerCase())
  const known = Object.keys(declared).map((name) => name.toLowerCase())
  const missing = Object.entries(declared).filter(
    ([name, { required }]) => required && !sent.includes(name.toLowerCase()),
  )
  return [
    ...sent
      .filter((name) => !OF_HTTP.includes(name) && !known.includes(name))
      .map((name) => `a header that is not documented: ${name}`),
    ...missing.map(([name]) => `a header that is documented and missing: ${name}`),
  ]
}
