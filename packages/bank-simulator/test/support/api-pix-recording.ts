import { appendFileSync } from 'node:fs'

/**
 * Records exchanges for a comparison with the Central Bank's document: in the file that
 * PIXGATE_API_PIX_RECORDING names, an exchange a line, for `npm run judge-api-pix`.
 */
export function record(exchange: object): void {
  const file = process.env.PIXGATE_API_PIX_RECORDING
  if (file) appendFileSync(file, `${JSON.stringify(exchange)}\n`)
}
