/**
 * Whether the client has what an `ETag` names already: one of its `If-None-Match`, or `*`. Compared weakly, as RFC 9110 says.
 * @param etag with its quotes
 * @param ifNoneMatch the header as it came
 * @source rules#webhooks.4, rules#reference.2
 */
export function hasCurrent(etag: string, ifNoneMatch: string | undefined): boolean {
  if (ifNoneMatch === undefined) return false
  const tags = ifNoneMatch.split(',').map((tag) => tag.trim().replace(/^W\//, ''))
  return tags.includes('*') || tags.includes(etag)
}
