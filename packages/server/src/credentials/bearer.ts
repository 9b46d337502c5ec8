/** One space, then visible ASCII to the end. The scheme's letters may be of either case (RFC 9110). */
const BEARER = /^Bearer ([!-~]+)$/i

/** The token of an `Authorization` header; `undefined`: it has none. @source rules#http.6 */
export function bearerToken(authorization: string | undefined): string | undefined {
  return BEARER.exec(authorization ?? '')?.[1]
}
