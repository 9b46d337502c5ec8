/** Parameters that are arrays, by the types that the text of their statement gives them. */

const TYPED_ARRAY = /\$(\d+)::(\w+)\[\]/g

/** The types of the arrays among a statement's parameters, by their places from 0. There are as many texts as statements. */
const typesOf = new Map<string, ReadonlyMap<number, string>>()

function arrayTypes(text: string): ReadonlyMap<number, string> {
  const known = typesOf.get(text)
  if (known) return known
  const types = new Map([...text.matchAll(TYPED_ARRAY)].map(([, place, type = '']) => [Number(place) - 1, type]))
  typesOf.set(text, types)
  return types
}

/** A statement's parameters with arrays in the binary format, as far as it is known how: the driver writes others as text. */
export function withBinaryArrays(text: string, parameters: readonly unknown[]): unknown[] {
  const sent = [...parameters]
  for (const [place, type] of arrayTypes(text)) {
    const parameter = sent[place]
    if (Array.isArray(parameter) && isElementType(type)) sent[place] = new ArrayParameter(type, parameter)
  }
  return sent
}

/** An array that is written when the driver asks for it, which copies one parameter before it asks for the next. */
class ArrayParameter {
  readonly #type: keyof Elements
  readonly #elements: readonly (string | null)[]

  constructor(type: keyof Elements, elements: readonly (string | null)[]) {
    this.#type = type
    this.#elements = elements
  }

  /** What is no value of the type is the database's to refuse, and an instant as text its to read. */
  toPostgres(): unknown {
    try {
      return binaryArray<keyof Elements>(this.#type, this.#elements, roomFor)
    } catch {
      return this.#elements
    }
  }
}

/** An array that takes more has a memory of its own. */
const ROOM_BYTES = 512 * 1_024

/** Written again by each array: memory beside the heap that each batch leaves is not given back for long. */
const room = Buffer.allocUnsafe(ROOM_BYTES)

function roomFor(bytes: number): Buffer {
  return bytes > ROOM_BYTES ? Buffer.allocUnsafe(bytes) : room.subarray(0, bytes)
}

/**
 * Arrays as parameters, in PostgreSQL's binary format: nothing is escaped here and parsed there, which took a tenth of the
 * server's time of the engine's statement.
 * They are what its `array_recv` and the elements' `_recv` read.
 */

/** What the elements are, by the database's type: an instant in epoch milliseconds, a document as its text. */
export interface Elements {
  readonly uuid: string
  readonly smallint: number
  readonly integer: number
  readonly bigint: bigint | number
  readonly boolean: boolean
  readonly timestamptz: number
  readonly text: string
  readonly jsonb: string
  readonly bytea: Uint8Array
}

/** How elements of a type are written. */
interface Codec<Element> {
  /** Of the type, as the database knows it. */
  readonly oid: number
  bytesOf(element: Element): number
  /** @throws RangeError · TypeError where it is no value of the type */
  write(into: Buffer, element: Element, offset: number): void
}

const CODECS: { readonly [Type in keyof Elements]: Codec<Elements[Type]> } = {
  uuid: { oid: 2950, bytesOf: () => 16, write: writeUuid },
  smallint: { oid: 21, bytesOf: () => 2, write: (into, element, offset) => into.writeInt16BE(whole(element), offset) },
  integer: { oid: 23, bytesOf: () => 4, write: (into, element, offset) => into.writeInt32BE(whole(element), offset) },
  bigint: { oid: 20, bytesOf: () => 8, write: writeBigint },
  boolean: { oid: 16, bytesOf: () => 1, write: writeBoolean },
  timestamptz: { oid: 1184, bytesOf: () => 8, write: writeInstant },
  text: {
    oid: 25,
    bytesOf: (text) => Buffer.byteLength(text),
    write: (into, text, offset) => into.write(text, offset),
  },
  jsonb: { oid: 3802, bytesOf: (text) => 1 + Buffer.byteLength(text), write: writeDocument },
  bytea: { oid: 17, bytesOf, write: (into, element, offset) => into.set(element, offset) },
}

/** Whether arrays of a type can be written so. */
function isElementType(type: string): type is keyof Elements {
  return Object.hasOwn(CODECS, type)
}

/** Dimensions, whether some element is null, the elements' type; then of the one dimension its length and where it begins. */
const HEADER_BYTES = 20
/** In front of each element; of one that is null it is -1. */
const LENGTH_BYTES = 4

/**
 * An array, to be given as a parameter.
 * @param allocate gives the memory that it is written to
 * @throws RangeError · TypeError where an element is no value of the type
 */
export function binaryArray<Type extends keyof Elements>(
  type: Type,
  elements: readonly (Elements[Type] | null | undefined)[],
  allocate: (bytes: number) => Buffer = Buffer.allocUnsafe,
): Buffer {
  const codec: Codec<Elements[Type]> = CODECS[type]
  const { length } = elements
  let bytes = HEADER_BYTES
  let nulls = 0
  // By index, here and below: arrays of so many kinds come here that an iterator would make an object for each element, a tenth of
  // all that a payment allocates.
  for (let index = 0; index < length; index += 1) {
    const element = elements[index]
    if (element == null) nulls += 1
    else bytes += codec.bytesOf(element)
  }
  const array = allocate(bytes + length * LENGTH_BYTES)
  array.writeInt32BE(1, 0)
  array.writeInt32BE(nulls === 0 ? 0 : 1, 4)
  array.writeInt32BE(codec.oid, 8)
  array.writeInt32BE(length, 12)
  array.writeInt32BE(1, 16)
  let offset = HEADER_BYTES
  for (let index = 0; index < length; index += 1) offset = writeElement(array, codec, elements[index], offset)
  return array
}

/** @returns where the next one begins */
function writeElement<Element>(
  array: Buffer,
  codec: Codec<Element>,
  element: Element | null | undefined,
  offset: number,
): number {
  const begin = offset + LENGTH_BYTES
  if (element == null) {
    array.writeInt32BE(-1, offset)
    return begin
  }
  const bytes = codec.bytesOf(element)
  array.writeInt32BE(bytes, offset)
  codec.write(array, element, begin)
  return begin + bytes
}

const DIGITS = Uint8Array.from({ length: 128 }, (_, code) => Number.parseInt(String.fromCharCode(code), 16) + 1)

/** The value of a digit. @throws TypeError where it is none */
function digitAt(text: string, index: number): number {
  const digit = (DIGITS[text.charCodeAt(index)] ?? 0) - 1
  if (digit < 0) throw new TypeError(`${text} is no UUID`)
  return digit
}

const UUID_LENGTH = 36
const DASH = '-'.charCodeAt(0)

/** Digit by digit: a fifth of what an expression, a replacement and a decoder take. */
function writeUuid(into: Buffer, element: string, offset: number): void {
  let to = offset
  for (let index = 0; index < UUID_LENGTH; index += 2) {
    if (to - offset === 4 || to - offset === 6 || to - offset === 8 || to - offset === 10) {
      if (element.charCodeAt(index) !== DASH) throw new TypeError(`${element} is no UUID`)
      index += 1
    }
    into[to] = digitAt(element, index) * 16 + digitAt(element, index + 1)
    to += 1
  }
  if (element.length !== UUID_LENGTH) throw new TypeError(`${element} is no UUID`)
}

function whole(element: number): number {
  if (!Number.isInteger(element)) throw new TypeError(`${element} is no whole number`)
  return element
}

function writeBigint(into: Buffer, element: bigint | number, offset: number): void {
  const value = typeof element === 'bigint' ? Number(element) : whole(element)
  if (Number.isSafeInteger(value)) writeSafe(into, value, offset)
  else into.writeBigInt64BE(BigInt(element), offset)
}

const TWO_TO_32 = 2 ** 32

/** Eight bytes of a whole number that loses nothing as a number: to write a bigint makes several others. */
function writeSafe(into: Buffer, value: number, offset: number): void {
  const high = Math.floor(value / TWO_TO_32)
  into.writeInt32BE(high, offset)
  into.writeUInt32BE(value - high * TWO_TO_32, offset + 4)
}

function writeBoolean(into: Buffer, element: boolean, offset: number): void {
  if (typeof element !== 'boolean') throw new TypeError(`${element} is no boolean`)
  into.writeUInt8(Number(element), offset)
}

function bytesOf(element: Uint8Array): number {
  if (!(element instanceof Uint8Array)) throw new TypeError(`${element} is no bytes`)
  return element.length
}

/** PostgreSQL counts microseconds from then on. */
const EPOCH_MS = Date.UTC(2000, 0, 1)

function writeInstant(into: Buffer, epochMs: number, offset: number): void {
  if (!Number.isFinite(epochMs)) throw new TypeError(`${epochMs} is no instant in milliseconds`)
  const ms = Math.trunc(epochMs) - EPOCH_MS
  if (Number.isSafeInteger(ms * 1_000)) writeSafe(into, ms * 1_000, offset)
  else into.writeBigInt64BE(BigInt(ms) * 1_000n, offset)
}

/** The only version of the format that there is. */
const JSONB_VERSION = 1

function writeDocument(into: Buffer, element: string, offset: number): void {
  into.writeUInt8(JSONB_VERSION, offset)
  into.write(element, offset + 1)
}
