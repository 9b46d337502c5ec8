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
    if (Array.isArray(parameter) && isElementType(type)) sent[place] = binaryOrText(type, parameter)
  }
  return sent
}

/** What is no value of the type is the database's to refuse, and an instant as text its to read. */
function binaryOrText(type: keyof Elements, elements: readonly (string | null)[]): unknown {
  try {
    return binaryArray<keyof Elements>(type, elements)
  } catch {
    return elements
  }
}
