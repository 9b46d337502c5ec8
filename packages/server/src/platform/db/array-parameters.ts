import { binaryArray, type Elements, isElementType } from './binary-array.ts'

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
