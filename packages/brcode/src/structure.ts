import { BrCodeError } from './br-code-error.ts'
import { crc16 } from './crc.ts'
import { TAG } from './tags.ts'
import { type LengthUnit, parseTlv, type Tlv } from './tlv.ts'

/** A code taken apart: its objects, and the objects within those that are templates, each by id. */
export interface Structure {
  readonly fields: Tlv
  readonly templates: ReadonlyMap<string, Tlv>
}

const MAX_CHARACTERS = 512

/**
 * What can be said before any object is read: the cheap checks, and the CRC, which vouches for all the rest.
 * @throws BrCodeError too_long · invalid_characters · payload_format_missing · crc_missing · crc_mismatch
 * @source BCB, Manual do BR Code
 */
export function checkEnvelope(code: string): void {
  if (code.length > MAX_CHARACTERS) {
    throw new BrCodeError('too_long', `A code has at most ${MAX_CHARACTERS} characters`, { position: MAX_CHARACTERS })
  }
  // Control and invisible characters, line breaks, halves of surrogate pairs: no issuer writes them.
  const unfit = code.search(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u)
  if (unfit >= 0) {
    throw new BrCodeError('invalid_characters', 'A control or invisible character', { position: unfit })
  }
  if (!code.startsWith('000201')) {
    throw new BrCodeError('payload_format_missing', 'A code begins with 000201', {
      field: TAG.payloadFormat,
      position: 0,
    })
  }
  if (!/6304[0-9A-F]{4}$/i.test(code)) throw crcMissing(code)
  if (crc16(code.slice(0, -4)) !== code.slice(-4).toUpperCase()) {
    throw new BrCodeError('crc_mismatch', 'The CRC does not match: the code was changed or mistyped', {
      field: TAG.crc,
      position: code.length - 4,
    })
  }
}

/**
 * Takes a code apart, without asking what it pays.
 * @throws BrCodeError malformed_tlv · length_overrun · duplicate_field · crc_missing
 * @source BCB, Manual do BR Code
 */
export function parseStructure(code: string, unit: LengthUnit): Structure {
  const fields = parseTlv(code, unit)
  if (fields.get(TAG.crc)?.position !== code.length - 4) throw crcMissing(code)
  const templates = new Map<string, Tlv>()
  for (const [id, object] of fields) {
    if (isTemplate(id)) templates.set(id, parseTlv(object.value, unit, object))
  }
  return { fields, templates }
}

/** The templates Pix uses. 64, the merchant's name in another language, is one too, but nothing in it is read. */
function isTemplate(id: string): boolean {
  return (id >= '26' && id <= '51') || id === TAG.additionalData || id >= '80'
}

function crcMissing(code: string): BrCodeError {
  return new BrCodeError('crc_missing', 'A code ends with 6304 and four hex digits: this one may be cut off', {
    field: TAG.crc,
    position: code.length,
  })
}
