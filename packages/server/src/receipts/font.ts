import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** TrueType fonts: widths for the layout, and a font file with only the used glyphs for a PDF. */

export interface Font {
  readonly name: string
  /** Of the font's own units, in thousandths of an em. */
  readonly metrics: {
    readonly ascent: number
    readonly descent: number
    readonly capHeight: number
    readonly bounds: readonly number[]
  }
  /** The glyph of a character; 0, a box, for one that the font lacks. */
  glyphOf(codePoint: number): number
  /** Advance of a glyph in thousandths of an em. */
  widthOf(glyph: number): number
  /** The font file with the outlines of these glyphs only; ids of glyphs stay. */
  subset(glyphs: Iterable<number>): Buffer
}

/** Tables that a PDF's viewer reads; the characters are mapped by the PDF. */
const EMBEDDED = ['cvt ', 'fpgm', 'glyf', 'head', 'hhea', 'hmtx', 'loca', 'maxp', 'prep']

export function readFont(name: string, path: string): Font {
  return fontOf(name, readFileSync(fileURLToPath(import.meta.resolve(path))))
}

function fontOf(name: string, file: Buffer): Font {
  const tables = tablesOf(file)
  const table = (tag: string) => tables.get(tag) ?? fail(`the font ${name} has no table ${tag}`)
  const [head, hhea, hmtx] = [table('head'), table('hhea'), table('hmtx')]
  const thousandths = (units: number) => Math.round((units * 1_000) / head.readUInt16BE(18))
  const glyphs = glyphsOf(table('cmap'))
  const locations = locationsOf(table('loca'), head.readInt16BE(50) === 1)
  const widths = hhea.readUInt16BE(34)
  return {
    name,
    metrics: {
      ascent: thousandths(hhea.readInt16BE(4)),
      descent: thousandths(hhea.readInt16BE(6)),
      capHeight: thousandths(table('OS/2').readInt16BE(88)),
      bounds: [36, 38, 40, 42].map((at) => thousandths(head.readInt16BE(at))),
    },
    glyphOf: (codePoint) => glyphs.get(codePoint) ?? 0,
    // Glyphs after the last width have the same one.
    widthOf: (glyph) => thousandths(hmtx.readUInt16BE(Math.min(glyph, widths - 1) * 4)),
    subset: (used) => subsetOf(tables, locations, used),
  }
}

function tablesOf(file: Buffer): ReadonlyMap<string, Buffer> {
  const records = Array.from({ length: file.readUInt16BE(4) }, (_, index) => 12 + index * 16)
  return new Map(
    records.map((at) => {
      const start = file.readUInt32BE(at + 8)
      return [file.toString('latin1', at, at + 4), file.subarray(start, start + file.readUInt32BE(at + 12))]
    }),
  )
}

/** Glyphs by character, of the Unicode subtable of format 4, which has the characters of all living alphabets. */
function glyphsOf(cmap: Buffer): ReadonlyMap<number, number> {
  const starts = Array.from({ length: cmap.readUInt16BE(2) }, (_, index) => cmap.readUInt32BE(4 + index * 8 + 4))
  const start = starts.find((at) => cmap.readUInt16BE(at) === 4) ?? fail('the font has no cmap of format 4')
  const segments = cmap.readUInt16BE(start + 6) / 2
  const [ends, begins] = [start + 14, start + 16 + segments * 2]
  const [deltas, offsets] = [begins + segments * 2, begins + segments * 4]
  const glyphs = new Map<number, number>()
  for (let segment = 0; segment < segments; segment++) {
    const at = segment * 2
    const [from, to] = [cmap.readUInt16BE(begins + at), cmap.readUInt16BE(ends + at)]
    const [delta, offset] = [cmap.readUInt16BE(deltas + at), cmap.readUInt16BE(offsets + at)]
    for (let codePoint = from; codePoint <= to && codePoint < 0xffff; codePoint++) {
      const listed = offset && cmap.readUInt16BE(offsets + at + offset + (codePoint - from) * 2)
      const glyph = offset ? listed && (listed + delta) & 0xffff : (codePoint + delta) & 0xffff
      if (glyph !== 0) glyphs.set(codePoint, glyph)
    }
  }
  return glyphs
}

/** Where each outline begins, and the end of the last one. */
function locationsOf(loca: Buffer, isLong: boolean): readonly number[] {
  const { length } = loca
  return isLong
    ? Array.from({ length: length / 4 }, (_, index) => loca.readUInt32BE(index * 4))
    : Array.from({ length: length / 2 }, (_, index) => loca.readUInt16BE(index * 2) * 2)
}

function subsetOf(tables: ReadonlyMap<string, Buffer>, locations: readonly number[], used: Iterable<number>): Buffer {
  const outlines = tables.get('glyf') ?? Buffer.alloc(0)
  const outlineOf = (glyph: number) => outlines.subarray(locations[glyph], locations[glyph + 1])
  const kept = withComponents([0, ...used], outlineOf)
  const loca = Buffer.alloc(locations.length * 4)
  let end = 0
  const glyf = Array.from({ length: locations.length - 1 }, (_, glyph) => {
    const outline = kept.has(glyph) ? padded(outlineOf(glyph)) : Buffer.alloc(0)
    end += outline.length
    loca.writeUInt32BE(end, (glyph + 1) * 4)
    return outline
  })
  const head = Buffer.from(tables.get('head') ?? [])
  head.writeInt16BE(1, 50)
  const changed = new Map([...tables, ['glyf', Buffer.concat(glyf)], ['loca', loca], ['head', head]] as const)
  return fileOf(EMBEDDED.flatMap((tag) => (changed.has(tag) ? [[tag, changed.get(tag) as Buffer] as const] : [])))
}

/** Glyphs and those of which composite ones, such as letters with accents, consist. */
function withComponents(glyphs: readonly number[], outlineOf: (glyph: number) => Buffer): ReadonlySet<number> {
  const all = new Set(glyphs)
  for (const glyph of all) for (const component of componentsOf(outlineOf(glyph))) all.add(component)
  return all
}

const [WORDS, SCALE, MORE, TWO_SCALES, MATRIX] = [0x01, 0x08, 0x20, 0x40, 0x80]

function componentsOf(outline: Buffer): readonly number[] {
  if (outline.length === 0 || outline.readInt16BE(0) >= 0) return []
  const components: number[] = []
  for (let at = 10, flags = MORE; flags & MORE; ) {
    flags = outline.readUInt16BE(at)
    components.push(outline.readUInt16BE(at + 2))
    at += 4 + (flags & WORDS ? 4 : 2)
    at += flags & MATRIX ? 8 : flags & TWO_SCALES ? 4 : flags & SCALE ? 2 : 0
  }
  return components
}

function fileOf(tables: readonly (readonly [tag: string, table: Buffer])[]): Buffer {
  const header = Buffer.alloc(12 + tables.length * 16)
  const power = Math.floor(Math.log2(tables.length))
  header.writeUInt32BE(0x00010000)
  header.writeUInt16BE(tables.length, 4)
  header.writeUInt16BE(16 * 2 ** power, 6)
  header.writeUInt16BE(power, 8)
  header.writeUInt16BE(tables.length * 16 - 16 * 2 ** power, 10)
  let start = header.length
  const bodies = tables.map(([tag, table], index) => {
    const at = 12 + index * 16
    const body = padded(table)
    header.write(tag, at, 'latin1')
    header.writeUInt32BE(checksumOf(body), at + 4)
    header.writeUInt32BE(start, at + 8)
    header.writeUInt32BE(table.length, at + 12)
    start += body.length
    return body
  })
  return Buffer.concat([header, ...bodies])
}

function padded(table: Buffer): Buffer {
  const missing = (4 - (table.length % 4)) % 4
  return missing === 0 ? table : Buffer.concat([table, Buffer.alloc(missing)])
}

function checksumOf(body: Buffer): number {
  let sum = 0
  for (let at = 0; at < body.length; at += 4) sum = (sum + body.readUInt32BE(at)) >>> 0
  return sum
}

function fail(message: string): never {
  throw new Error(message)
}
