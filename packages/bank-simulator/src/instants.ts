/** RFC 3339 date-time without leap seconds, which `Date` cannot represent. */
const INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:[0-5]\d:[0-5]\d(?:\.\d{1,9})?(?:Z|[+-]\d{2}:\d{2})$/

/** Whether a text is a valid RFC 3339 date-time. */
export function isInstant(text: string): boolean {
  return INSTANT.test(text) && !Number.isNaN(Date.parse(text))
}
