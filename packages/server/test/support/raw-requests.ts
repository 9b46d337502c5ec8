/** A request as the bytes that a client writes on its connection. @param headers lines besides those that each has */
export function bytesOf(method: string, path: string, token: string, body?: object, ...headers: string[]): string {
  const text = body === undefined ? '' : JSON.stringify(body)
  const ofBody = ['Content-Type: application/json', `Content-Length: ${Buffer.byteLength(text)}`]
  const lines = [
    ...[`${method} ${path} HTTP/1.1`, 'Host: gateway.example', `Authorization: Bearer ${token}`, ...headers],
    ...(body === undefined ? [] : ofBody),
  ]
  return `${lines.join('\r\n')}\r\n\r\n${text}`
}
