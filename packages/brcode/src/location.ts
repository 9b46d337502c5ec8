/**
 * Whether `text` is what object 25 holds: a host with a dot, perhaps a port, and a path, without a scheme (the payer
 * adds `https://`). A shape only: it says nothing about where the host leads.
 * @source BCB, Manual de Padrões para Iniciação do Pix §2.7
 */
export function isLocation(text: string): boolean {
  return /^[a-z0-9-]+(?:\.[a-z0-9-]+)+(?::\d{1,5})?\/[!-~]+$/i.test(text)
}
