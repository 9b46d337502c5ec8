import type { FastifyInstance } from 'fastify'
import { encodeQR } from 'qr'
import type { Charge } from '../operations.ts'
import type { Account } from './account.ts'
import { cobOf } from './cob.ts'
import type { Conventions } from './conventions.ts'
import { Problem } from './problems.ts'

const reading: Conventions = {
  scope: 'payloadlocation.read',
  invalid: 'PayloadLocationConsultaInvalida',
  entity: 'loc',
}

/** Path parameters with the number of a location. */
type LocParams = { readonly id: string }

/**
 * Adds the routes of locations. Each charge has one, with the charge's number as its id.
 * @source BCB, API Pix (PayloadLocation); Efí for the QR code; rules#sandbox.14
 */
export function locRoutes(app: FastifyInstance, account: Account): void {
  const { liar } = account.bank
  app.get<{ Params: LocParams }>('/v2/loc/:id', { config: { conventions: reading } }, async ({ params: { id } }) => {
    liar.throwIfTold('unavailable')
    return cobOf(chargeAt(account, id)).loc
  })
  app.get<{ Params: LocParams }>(
    '/v2/loc/:id/qrcode',
    { config: { conventions: reading } },
    async ({ params: { id } }) => {
      liar.throwIfTold('unavailable')
      const { pixCode: qrcode } = chargeAt(account, id)
      const image = Buffer.from(encodeQR(qrcode, 'svg')).toString('base64')
      return { qrcode, imagemQrcode: `data:image/svg+xml;base64,${image}` }
    },
  )
}

function chargeAt({ bank: { book } }: Account, id: string): Charge {
  const charge = [...book.charges.values()].find(({ number }) => String(number) === id)
  if (!charge) throw new Problem('PayloadLocationNaoEncontrado')
  return charge
}
