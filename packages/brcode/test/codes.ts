import { crc16, parseTlv } from '../src/br-code.ts'

/** Codes published by others, with where they come from; the V numbers are those of the project's notes on the field. */
export const PUBLISHED = {
  /** BCB, manual example (V1). */
  manualStatic:
    '00020126580014br.gov.bcb.pix0136123e4567-e12b-12d1-a456-4266554400005204000053039865802BR5913Fulano de Tal6008BRASILIA62070503***63041D3D',
  /** pix-utils, tests/emvCodes.ts (V2). */
  staticWithAmount:
    '00020126510014br.gov.bcb.pix0115thalesog@me.com0210Pedido 123520400005303986540510.005802BR5914THALES OGLIARI6015SAO MIGUEL DO O62070503***63040DC6',
  /** Woovi, documentation of static codes (V3). */
  staticWithTxid:
    '00020126580014br.gov.bcb.pix0136123e4567-e12b-12d1-a456-42665544000052040000530398654041.005802BR5915Call_me_Awesome6009Sao_Paulo622905259134e2866f71427abf001000063047029',
  /** pix-utils, tests/emvCodes.ts (V4). */
  dynamicOnce:
    '00020101021226740014br.gov.bcb.pix2552payload.psp.com/3ec9d2f9-5f03-4e0e-820d-63a81e769e875204000053039865802BR5914THALES OGLIARI6015SAO MIGUEL DO O62070503***63042895',
  /** pix-utils, tests/emvCodes.ts (V5). */
  dynamicWithoutPointOfInitiation:
    '00020126740014br.gov.bcb.pix2552payload.psp.com/3ec9d2f9-5f03-4e0e-820d-63a81e769e875204000053039865802BR5914THALES OGLIARI6015SAO MIGUEL DO O62070503***630442C5',
  /** pix-utils, tests/emvCodes.ts (V8). */
  pixSaque:
    '00020126630014br.gov.bcb.pix0115thalesog@me.com0210Pedido 1230308123412345204000053039865802BR5914THALES OGLIARI6015SAO MIGUEL DO O62070503***6304901C',
  /** BCB, Manual do BR Code: other arrangements beside Pix, upper-case GUI, postal code, a txid with a hyphen. */
  manualWithOtherArrangements:
    '00020104141234567890123426580014BR.GOV.BCB.PIX0136123e4567-e12b-12d1-a456-42665544000027300012BR.COM.OUTRO011001234567895204000053039865406123.455802BR5917NOME DO RECEBEDOR6008BRASILIA61087007490062190515RP12345678-201980390012BR.COM.OUTRO01190123.ABCD.3456.WXYZ6304AD38',
  /** BCB sandbox, Pix Automático, second journey: nothing but the recurrence. */
  recurrenceOnly:
    '00020126180014br.gov.bcb.pix5204000053039865802BR5913Fulano de Tal6008BRASILIA62070503***80950014br.gov.bcb.pix2573qr-h.sandbox.pix.bcb.gov.br/rest/api/rec/c7dc3d94706d4901a72480e98fcd52e16304BAEE',
  /** BCB sandbox, Pix Automático, third journey: a charge and a recurrence. */
  dynamicWithRecurrence:
    '00020101021226940014br.gov.bcb.pix2572qr-h.sandbox.pix.bcb.gov.br/rest/api/v2/b1480b32f97f488997e523a6be0a07b85204000053039865802BR5913Fulano de Tal6008BRASILIA62070503***80950014br.gov.bcb.pix2573qr-h.sandbox.pix.bcb.gov.br/rest/api/rec/375a594f208645db99dec722f7a1682863042AC3',
  /** BCB sandbox, Pix Automático, fourth journey: a key and a recurrence. */
  staticWithRecurrence:
    '00020126780014br.gov.bcb.pix0136f4c6089a-bfde-4c00-a2d9-9eaa584b02190216CobrancaEstatica5204000053039865406162.075802BR5903Pix6008BRASILIA62290525c6ef3f314123446a8e0cab39e80950014br.gov.bcb.pix2573qr-h.sandbox.pix.bcb.gov.br/rest/api/rec/1f7a74f715974d1982c70f0715fb851c63041837',
  /** Itaú, homologation: 01 says reusable, a name that ends in a space, 62 without txid but with the obsolete 62-50. */
  dynamicWithObsoleteVersion:
    '00020101021126950014BR.GOV.BCB.PIX2573spi.hom.cloud.itau.com.br/documentos/ae40f1f9-daa1-41ea-83c7-62fe15efa0a25204000053039865802BR5917TESTE PIX PORTAB 6009SAO PAULO623450300017BR.GOV.BCB.BRCODE01051.0.0630410C4',
  /** Safra, homologation: amount with one decimal and a txid in a dynamic code. */
  dynamicWithAmountAndTxid:
    '00020101021226760014BR.GOV.BCB.PIX2554pix-h.safra.com.br/gi/972769006bcf4c5ea3d12cb07ee16479520400005303986540413.05802BR5921COM E IMP SERTIC LTDA6009SAO PAULO62230519202010251755fcbd3e56304F64C',
} as const

/** One object, written without any check, so that tests can write what no issuer should. */
export function object(id: string, value: string, length = [...value].length): string {
  return id + String(length).padStart(2, '0') + value
}

/** The objects of `text` as they stand there: id and value. */
export function objectsOf(text: string): [id: string, value: string][] {
  return [...parseTlv(text, 'characters')].map(([id, { value }]) => [id, value])
}

/** Ends `body` with a CRC that fits. */
export function signed(body: string): string {
  return `${body}6304${crc16(`${body}6304`)}`
}

export const PIX_ACCOUNT = object('00', 'br.gov.bcb.pix') + object('01', 'pix@example.com')
export const PIX_LOCATION = object('00', 'br.gov.bcb.pix') + object('25', 'pix.example.com/qr/v2/1')
export const PIX_RECURRENCE = object('00', 'br.gov.bcb.pix') + object('25', 'pix.example.com/rec/1')

/** The objects of a plain static code, but for its CRC. */
export const PLAIN_OBJECTS: Readonly<Record<string, string>> = {
  '00': '01',
  '26': PIX_ACCOUNT,
  '52': '0000',
  '53': '986',
  '58': 'BR',
  '59': 'Fulano de Tal',
  '60': 'BRASILIA',
  '62': object('05', '***'),
}

/** A plain static code with some of its objects changed, added or (undefined) left out; ascending ids, a true CRC. */
export function codeWith(changes: Record<string, string | undefined> = {}): string {
  const objects = Object.entries({ ...PLAIN_OBJECTS, ...changes }).sort(([left], [right]) => left.localeCompare(right))
  return signed(objects.map(([id, value]) => (value === undefined ? '' : object(id, value))).join(''))
}
