/** What stands for a secret that a bank has repeated. */
const CONCEALED = '…'

/** Makes texts of a bank without these secrets in them: as they are, and as an address has them, encoded once or twice. */
export function concealing(secrets: readonly string[]): (text: string) => string {
  const forms = secrets.filter((secret) => secret !== '').flatMap(formsOf)
  // What is longer first: it may begin with a shorter one.
  const ordered = [...new Set(forms)].toSorted((one, other) => other.length - one.length)
  return (text) => ordered.reduce((concealed, form) => concealed.replaceAll(form, CONCEALED), text)
}

function formsOf(secret: string): string[] {
  return [secret, encodeURIComponent(secret), new URLSearchParams({ '': secret }).toString().slice(1)].flatMap(
    (form) => [form, encodeURIComponent(form)],
  )
}

/** The same in every text of a JSON value. */
export function concealedJson(json: unknown, conceal: (text: string) => string): unknown {
  return json === undefined
    ? json
    : JSON.parse(JSON.stringify(json), (_, value) => (typeof value === 'string' ? conceal(value) : value))
}
