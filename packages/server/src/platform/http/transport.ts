import type { IncomingMessage } from 'node:http'

/**
 * What Node's parser lets pass and another parser in front of us might read otherwise: the stuff of request smuggling.
 * @returns what is wrong, for the client to read, or `undefined`
 * @source rules#http.10
 */
export function transportFault({ httpVersion, rawHeaders, headers, url = '' }: IncomingMessage): string | undefined {
  if (httpVersion !== '1.1') return 'HTTP/1.1 is required'
  if (!url.startsWith('/')) return 'the request target must be a path'
  if (countHeader(rawHeaders, 'host') !== 1) return 'exactly one Host header is required'
  if (countHeader(rawHeaders, 'transfer-encoding') > 1) return 'Transfer-Encoding was sent twice'
  // Node decodes the chunks and hands on what else was done to the body as the body itself.
  if (headers['transfer-encoding']?.toLowerCase() === 'chunked') return undefined
  if (headers['transfer-encoding'] !== undefined) return 'Transfer-Encoding must be chunked, and nothing else'
  return undefined
}

/**
 * How often a header was sent. Node keeps one of several or joins them.
 * @param rawHeaders names and values in turn
 * @param name in lower case
 */
export function countHeader(rawHeaders: readonly string[], name: string): number {
  let count = 0
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const candidate = rawHeaders[at]
    if (candidate?.length === name.length && candidate.toLowerCase() === name) count += 1
  }
  return count
}
