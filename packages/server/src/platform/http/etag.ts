/**
 * Returns whether `If-None-Match` names this ETag or is `*`. Weak comparison, as in RFC 9110.
 * @param etag with its quotes
 * @param ifNoneMatch the raw header
 * @source rules#webhooks.4, rules#reference.2
 */
export function hasCurrent(etag: string, ifNoneMatch: string | undefined): boolean {
  if (ifNoneMatch === undefined) return false
  const tags = ifNoneMatch.split(',').map((tag) => tag.trim().replace(/^W\//, ''))
  return tags.includes('*') || tags.includes(etag)
}
