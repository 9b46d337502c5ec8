import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { deflate } from 'node:zlib'
import type { Font } from './font.ts'

/** A PDF of one page with embedded fonts (ISO 32000-1). Equal input makes equal bytes. */

export interface TextStyle {
  readonly font: Font
  /** Points. */
  readonly size: number
  readonly colour: Colour
}

/** Red, green and blue, as parts of 1. */
export type Colour = readonly [number, number, number]

export interface PdfFacts {
  readonly title: string
  readonly author: string
  readonly language: string
  /** Epoch milliseconds. */
  readonly createdAt: number
}

/** A page under construction. Units are points, from the upper left corner. */
export class PdfPage {
  readonly #marks: string[] = []
  /** Used glyphs of each font, and the text that each stands for. */
  readonly #fonts = new Map<Font, Map<number, number>>()

  /** One line, on its base line. */
  text(text: string, x: number, y: number, { font, size, colour }: TextStyle): void {
    const used = this.#fonts.get(font) ?? commonGlyphsOf(font)
    this.#fonts.set(font, used)
    const glyphs = codePointsOf(text).map((codePoint) => {
      const glyph = font.glyphOf(codePoint)
      used.set(glyph, glyph === 0 ? REPLACEMENT : (used.get(glyph) ?? codePoint))
      return hex16(glyph)
    })
    const name = [...this.#fonts.keys()].indexOf(font)
    const place = `1 0 0 -1 ${short(x)} ${short(y)} Tm`
    this.#marks.push(`BT ${colour.join(' ')} rg /F${name} ${size} Tf ${place} <${glyphs.join('')}> Tj ET`)
  }

  box(x: number, y: number, width: number, height: number, colour: Colour): void {
    this.#marks.push(`${colour.join(' ')} rg ${[x, y, width, height].map(short).join(' ')} re f`)
  }

  /** The file. */
  async pdf(width: number, height: number, facts: PdfFacts): Promise<Buffer> {
    const fonts = [...this.#fonts]
    const names = fonts.map((_, index) => `/F${index} ${reference(FIRST_FONT + index * OBJECTS_OF_FONT)}`)
    const marks = [`1 0 0 -1 0 ${short(height)} cm`, ...this.#marks].join('\n')
    const objects = await Promise.all([
      `<< /Type /Catalog /Pages 2 0 R /Lang ${textOf(facts.language)} /ViewerPreferences << /DisplayDocTitle true >> >>`,
      '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 ${short(width)} ${short(height)}] /Contents 4 0 R /Resources << /Font << ${names.join(' ')} >> >> >>`,
      stream(Buffer.from(marks, 'latin1')),
      `<< /Title ${textOf(facts.title)} /Author ${textOf(facts.author)} /Producer (Pixgate) /CreationDate (${dateOf(facts.createdAt)}) >>`,
      ...(
        await Promise.all(fonts.map((font, index) => embedded(...font, FIRST_FONT + index * OBJECTS_OF_FONT)))
      ).flat(),
    ])
    return fileOf(objects)
  }
}

export function widthOf(text: string, { font, size }: Pick<TextStyle, 'font' | 'size'>): number {
  const units = codePointsOf(text).reduce((sum, codePoint) => sum + font.widthOf(font.glyphOf(codePoint)), 0)
  return (units * size) / 1_000
}

/** Objects 1 to 5 are the catalogue, the page tree, the page, its marks and the facts. */
const FIRST_FONT = 6
const OBJECTS_OF_FONT = 5

const REPLACEMENT = 0xfffd

/** Characters of almost every text. With them most files have the same fonts, which are made once: 0.8 instead of 3 ms. */
const COMMON = `${String.fromCharCode(...Array.from({ length: 95 }, (_, index) => 32 + index))}\u00a0ªº–ÁÀÂÃÇÉÊÍÓÔÕÚÜáàâãçéêíóôõúü`

function commonGlyphsOf(font: Font): Map<number, number> {
  return new Map(codePointsOf(COMMON).map((codePoint) => [font.glyphOf(codePoint), codePoint]))
}

const latest = new WeakMap<Font, { readonly key: string; readonly objects: Promise<(string | Buffer)[]> }>()

/** The objects of a font, kept for texts that need no other glyphs than the common ones. */
function embedded(font: Font, used: ReadonlyMap<number, number>, first: number): Promise<(string | Buffer)[]> {
  const glyphs = [...used.keys()].sort((a, b) => a - b)
  const key = `${first} ${glyphs.join()}`
  const kept = latest.get(font)
  if (kept?.key === key) return kept.objects
  const objects = Promise.all(objectsOf(font, used, glyphs, first))
  if (used.size === commonGlyphsOf(font).size) latest.set(font, { key, objects })
  return objects
}

/** The objects of an embedded font, whose characters are its glyphs. */
function objectsOf(font: Font, used: ReadonlyMap<number, number>, glyphs: readonly number[], first: number) {
  const { ascent, descent, capHeight, bounds } = font.metrics
  const widths = glyphs.map((glyph) => `${glyph} [${font.widthOf(glyph)}]`)
  // Six letters before the name mark a subset; they depend on its glyphs.
  const tag = [...createHash('sha256').update(glyphs.join()).digest().subarray(0, 6)].map((byte) => 65 + (byte % 26))
  const name = `/${String.fromCharCode(...tag)}+${font.name}`
  return [
    `<< /Type /Font /Subtype /Type0 /BaseFont ${name} /Encoding /Identity-H /DescendantFonts [${reference(first + 1)}] /ToUnicode ${reference(first + 4)} >>`,
    `<< /Type /Font /Subtype /CIDFontType2 /BaseFont ${name} /CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> /FontDescriptor ${reference(first + 2)} /CIDToGIDMap /Identity /W [${widths.join(' ')}] >>`,
    `<< /Type /FontDescriptor /FontName ${name} /Flags 32 /FontBBox [${bounds.join(' ')}] /ItalicAngle 0 /Ascent ${ascent} /Descent ${descent} /CapHeight ${capHeight} /StemV 80 /FontFile2 ${reference(first + 3)} >>`,
    stream(font.subset(glyphs)),
    stream(Buffer.from(unicodeMapOf(used), 'latin1')),
  ]
}

/** Text of each glyph, so that the PDF can be searched and copied from. */
function unicodeMapOf(used: ReadonlyMap<number, number>): string {
  const lines = [...used].map(([glyph, codePoint]) => `<${hex16(glyph)}> <${utf16(String.fromCodePoint(codePoint))}>`)
  const blocks = Array.from({ length: Math.ceil(lines.length / MAPPED_AT_ONCE) }, (_, index) => {
    const block = lines.slice(index * MAPPED_AT_ONCE, (index + 1) * MAPPED_AT_ONCE)
    return `${block.length} beginbfchar\n${block.join('\n')}\nendbfchar`
  })
  return [
    '/CIDInit /ProcSet findresource begin 12 dict begin begincmap',
    '/CIDSystemInfo << /Registry (Adobe) /Ordering (UCS) /Supplement 0 >> def',
    '/CMapName /Adobe-Identity-UCS def /CMapType 2 def',
    '1 begincodespacerange <0000> <FFFF> endcodespacerange',
    ...blocks,
    'endcmap CMapName currentdict /CMap defineresource pop end end',
  ].join('\n')
}

/** Limit of the format. */
const MAPPED_AT_ONCE = 100

const deflated = promisify(deflate)

/** Compressed on another thread. */
async function stream(bytes: Buffer): Promise<Buffer> {
  const body = (await deflated(bytes)) as Buffer
  const head = `<< /Length ${body.length} /Length1 ${bytes.length} /Filter /FlateDecode >>\nstream\n`
  return Buffer.concat([Buffer.from(head, 'latin1'), body, Buffer.from('\nendstream', 'latin1')])
}

function fileOf(objects: readonly (string | Buffer)[]): Buffer {
  const parts: Buffer[] = [Buffer.from('%PDF-1.7\n%\xe2\xe3\xcf\xd3\n', 'latin1')]
  let end = parts[0]?.length ?? 0
  const starts = objects.map((object, index) => {
    const start = end
    const body = typeof object === 'string' ? Buffer.from(object, 'latin1') : object
    const part = Buffer.concat([Buffer.from(`${index + 1} 0 obj\n`), body, Buffer.from('\nendobj\n')])
    parts.push(part)
    end += part.length
    return `${String(start).padStart(10, '0')} 00000 n \n`
  })
  const id = createHash('sha256').update(Buffer.concat(parts)).digest('hex').slice(0, 32)
  const count = objects.length + 1
  const trailer = `<< /Size ${count} /Root 1 0 R /Info 5 0 R /ID [<${id}> <${id}>] >>`
  const table = `xref\n0 ${count}\n0000000000 65535 f \n${starts.join('')}`
  return Buffer.concat([...parts, Buffer.from(`${table}trailer\n${trailer}\nstartxref\n${end}\n%%EOF\n`)])
}

function codePointsOf(text: string): number[] {
  return Array.from(text, (character) => character.codePointAt(0) ?? 0)
}

function reference(object: number): string {
  return `${object} 0 R`
}

function textOf(text: string): string {
  return `<FEFF${utf16(text)}>`
}

function utf16(text: string): string {
  return Buffer.from(text, 'utf16le').swap16().toString('hex').toUpperCase()
}

function hex16(number: number): string {
  return number.toString(16).toUpperCase().padStart(4, '0')
}

function short(points: number): string {
  return String(Math.round(points * 100) / 100)
}

function dateOf(at: number): string {
  return `D:${new Date(at).toISOString().replace(/\D/g, '').slice(0, 14)}Z`
}
