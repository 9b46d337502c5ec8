/**
 * Reads a record by an id from outside. `record[id]` would also find inherited properties such as `constructor`.
 * Writing needs no such care: a computed key of a literal, `JSON.parse` and the spread make own properties even of
 * `__proto__`.
 * @source failure-modes#EV-39
 */
export function own<Value>(record: Readonly<Record<string, Value>> | null | undefined, id: string): Value | undefined {
  return record != null && Object.hasOwn(record, id) ? record[id] : undefined
}
