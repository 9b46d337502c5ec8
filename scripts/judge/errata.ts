/** An OpenAPI document, or a part of one. */
export type Part = Record<string, unknown>

/** A mistake of the official document with its correction. */
export interface Erratum {
  readonly name: string
  /** Corrects the document. @returns the number of places */
  mend(document: Part): number
}

/**
 * Mistakes of the Central Bank's API Pix 2.9.0.
 * @source BCB, API Pix 2.9.0
 */
export const ERRATA: readonly Erratum[] = [
  {
    name: 'PixConsultados.required names `cobs`, where its property is `pix`',
    mend: (document) => {
      const schema = schemaIn(document, 'PixConsultados')
      schema.required = (schema.required as string[]).map((name) => (name === 'cobs' ? 'pix' : name))
      return 1
    },
  },
  {
    name: 'the patterns of a CPF have the slashes of a literal',
    mend: (document) =>
      mendEvery(
        document,
        ({ pattern }) => typeof pattern === 'string' && pattern.startsWith('/'),
        (part) => {
          part.pattern = String(part.pattern).replace(/^\/|\/$/g, '')
        },
      ),
  },
  {
    name: '`location` has the format `uri`, and an example without a scheme',
    mend: (document) =>
      mendEvery(
        document,
        ({ example }) => /^pix\.example\.com\/qr/.test(String(example)),
        (part) => {
          delete part.format
        },
      ),
  },
  {
    name: '`Pix.txid` is both of 26 to 35 and of 1 to 35, so that those of static codes fit nothing',
    mend: (document) =>
      mendEvery(
        document,
        ({ allOf }) => isTxidOfAnyCode(allOf),
        (part) => {
          part.allOf = [(part.allOf as Part[])[1]]
        },
      ),
  },
  {
    name: '`infoAdicionais.maximum` stands for `maxItems`',
    mend: (document) =>
      mendEvery(
        document,
        ({ type, maximum }) => type === 'array' && maximum !== undefined,
        (part) => {
          part.maxItems = part.maximum
          delete part.maximum
        },
      ),
  },
  {
    name: 'patterns are not anchored',
    mend: (document) =>
      mendEvery(
        document,
        ({ pattern }) => typeof pattern === 'string',
        (part) => {
          part.pattern = `^(?:${part.pattern})$`
        },
      ),
  },
]

function isTxidOfAnyCode(allOf: unknown): boolean {
  const [reference, other] = Array.isArray(allOf) ? (allOf as Part[]) : []
  return String(reference?.$ref).endsWith('/TxId') && String(other?.pattern).includes('{1,35}')
}

function schemaIn(document: Part, name: string): Part {
  const { components } = document as { readonly components: { readonly schemas: Record<string, Part> } }
  return components.schemas[name] as Part
}

/** Corrects every matching object of a document. @returns the number of objects */
function mendEvery(value: unknown, needsIt: (part: Part) => boolean, mend: (part: Part) => void): number {
  if (typeof value !== 'object' || value === null) return 0
  const part = value as Part
  const isOne = !Array.isArray(value) && needsIt(part)
  if (isOne) mend(part)
  return Object.values(part).reduce<number>((sum, it) => sum + mendEvery(it, needsIt, mend), isOne ? 1 : 0)
}
