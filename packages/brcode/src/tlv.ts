import { BrCodeError } from './br-code-error.ts'

/** One object: two digits of id, two of length (01–99), then the value. */
export interface TlvObject {
  /** Ids from the outside in: `54`, `26-01`. */
  readonly path: string
  readonly value: string
  /** Index of the value's first character in the whole code. */
  readonly position: number
}

/** The objects of a code or of a template, by id, in the order they were written. */
export type Tlv = ReadonlyMap<string, TlvObject>

/**
 * What a length counts. EMV counts characters; some issuers count UTF-8 bytes, which differs outside ASCII only, and
 * some languages count an emoji as the two UTF-16 units it takes.
 */
export type LengthUnit = 'characters' | 'UTF-16 units' | 'bytes'

/**
 * Splits a code, or the template `parent`, into its objects.
 * @throws BrCodeError malformed_tlv · length_overrun · duplicate_field
 * @source EMVCo, QR Code Specification for Payment Systems: Merchant-Presented Mode
 */
export function parseTlv(text: string, unit: LengthUnit, parent?: TlvObject): Tlv {
  const objects = new Map<string, TlvObject>()
  let at = 0
  while (at < text.length) {
    const position = (parent?.position ?? 0) + at
    const [, id, length] = /^(\d\d)(\d\d)$/.exec(text.slice(at, at + 4)) ?? []
    if (id === undefined) {
      const explanation = 'Expected two digits of id and two of length'
      throw new BrCodeError('malformed_tlv', explanation, { field: parent?.path, position })
    }
    const path = parent ? `${parent.path}-${id}` : id
    const fault = { field: path, position }
    if (length === '00') throw new BrCodeError('malformed_tlv', `Object ${path} is empty`, fault)
    if (objects.has(id)) throw new BrCodeError('duplicate_field', `Object ${path} occurs twice`, fault)
    const end = endOfValue(text, at + 4, Number(length), unit)
    if (end === undefined) {
      throw new BrCodeError('length_overrun', `Object ${path} claims ${length} ${unit}, more than there are`, fault)
    }
    objects.set(id, { path, value: text.slice(at + 4, end), position: position + 4 })
    at = end
  }
  return objects
}

/**
 * Writes one object; an absent value writes nothing.
 * @throws BrCodeError field_malformed: the value is not 1–99 characters of printable ASCII, where all ways of counting
 *   agree
 */
export function formatTlv(id: string, value: string | undefined): string {
  if (value === undefined) return ''
  if (!/^[ -~]{1,99}$/.test(value)) {
    throw new BrCodeError('field_malformed', `Object ${id} is not 1–99 characters of printable ASCII`, { field: id })
  }
  return id + String(value.length).padStart(2, '0') + value
}

/** Index just after a value of `length` units, or undefined where the text ends too early or inside a character. */
function endOfValue(text: string, start: number, length: number, unit: LengthUnit): number | undefined {
  let end = start
  let missing = length
  for (const character of text.slice(start)) {
    if (missing <= 0) break
    missing -= UNITS_IN[unit](character)
    end += character.length
  }
  return missing === 0 ? end : undefined
}

const UNITS_IN: Record<LengthUnit, (character: string) => number> = {
  characters: () => 1,
  'UTF-16 units': (character) => character.length,
  bytes: (character) => new TextEncoder().encode(character).length,
}
