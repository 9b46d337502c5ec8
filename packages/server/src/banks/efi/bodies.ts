import { type Static, Type } from 'typebox'
import { amount, amountMoved, bodyTest, information, instant, items } from '../api-pix/bodies.ts'
import { BALANCE } from '../values.ts'

/** Which JSON is a body of Efí's own endpoints, which the standard does not have: the part that is read. */

const text = Type.Optional(Type.String())
const sendingId = Type.String({ pattern: '^[a-zA-Z0-9]{1,35}$' })
const status = Type.Enum(['EM_PROCESSAMENTO', 'REALIZADO', 'NAO_REALIZADO'])
const times = Type.Object({
  solicitacao: Type.Optional(instant),
  liquidacao: Type.Optional(instant),
})

/** Money of a payout that came back: as Efí's own client types it, or as the standard tells what goes back. */
const sentReturn = Type.Object({
  rtrId: text,
  valor: amountMoved,
  horario: Type.Optional(Type.Union([instant, times])),
  status: Type.Optional(Type.Enum(['EM_PROCESSAMENTO', 'DEVOLVIDO', 'NAO_REALIZADO'])),
})

const holder = Type.Object({ nome: text, cpf: text, cnpj: text })

/** A Pix that was sent, as both its request and the questions about it are answered. */
const sentPix = Type.Object({
  idEnvio: sendingId,
  e2eId: text,
  endToEndId: text,
  valor: amountMoved,
  status,
  horario: Type.Optional(times),
  favorecido: Type.Optional(Type.Object({ chave: text, identificacao: information, contaBanco: information })),
  devolucoes: items,
  gnExtras: information,
})

/** A Pix in the list of those that were sent; one that was sent by hand has no id. */
const sentItem = Type.Object({ ...sentPix.properties, idEnvio: text, favorecido: information })

const qrCode = Type.Object({
  txid: Type.String({ minLength: 1 }),
  revisao: Type.Optional(Type.Integer({ minimum: 0, maximum: 2_147_483_647 })),
  calendario: Type.Object({
    criacao: Type.Optional(instant),
    expiracao: Type.Optional(Type.Integer({ minimum: 1, maximum: 2_147_483_647 })),
  }),
  status: Type.Enum(['ATIVA', 'CONCLUIDA', 'REMOVIDA_PELO_USUARIO_RECEBEDOR', 'REMOVIDA_PELO_PSP']),
  recebedor: holder,
  valor: Type.Object({ final: amount }),
  chave: Type.String({ minLength: 1 }),
})

const reais = Type.Number({ format: 'bank-reais' })
const balance = Type.Object({
  saldo: Type.Union([Type.String({ pattern: BALANCE }), reais]),
  bloqueios: Type.Optional(Type.Object({ total: amount })),
})

/** Why not, in the form that Efí had before the standard's. */
const namedError = Type.Object({ nome: Type.String({ minLength: 1 }), mensagem: Type.Optional(Type.String()) })

/** A sent Pix as the bank tells it. */
export type SentPix = Static<typeof sentPix>
/** A return of one as the bank tells it. */
export type SentReturn = Static<typeof sentReturn>
/** A Pix in the list of those that were sent as the bank tells it. */
export type SentItem = Static<typeof sentItem>
/** What a QR code asks for as the bank tells it. */
export type DetailedQrCode = Static<typeof qrCode>

/** Whether the bank tells a sent Pix. */
export const isSentPix = bodyTest(sentPix)
/** Whether an item of the list is a sent Pix. */
export const isSentItem = bodyTest(sentItem)
/** Whether an item is money that came back. */
export const isSentReturn = bodyTest(sentReturn)
/** Whether the bank tells what a QR code asks for. */
export const isDetailedQrCode = bodyTest(qrCode)
/** Whether the bank tells a balance. */
export const isBalance = bodyTest(balance)
/** Whether the bank tells why not, in its own form. */
export const isNamedError = bodyTest(namedError)
