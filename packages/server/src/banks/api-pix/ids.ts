/** Ids as API Pix takes them: `[a-zA-Z0-9]`, 26 to 35 of them in a `txid`. */

const DASHED = /^([0-9a-f]{8})-([0-9a-f]{4})-([0-9a-f]{4})-([0-9a-f]{4})-([0-9a-f]{12})$/
const PLAIN = /^([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})$/

/** Our id, without its dashes: the `txid` of a charge, the id of a return, the `idEnvio` of a payout. */
export function plainId(id: string): string {
  return id.replace(DASHED, '$1$2$3$4$5')
}

/** Whether it could be an id of ours, as {@link plainId} writes it. */
export function isPlainId(text: string): boolean {
  return PLAIN.test(text)
}

/** Our id again; whatever else somebody chose stays as it is. */
export function dashedId(text: string): string {
  return text.replace(PLAIN, '$1-$2-$3-$4-$5')
}
