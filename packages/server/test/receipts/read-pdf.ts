import assert from 'node:assert/strict'
import { inflateSync } from 'node:zlib'

/** Reads a PDF of ours again: its table of objects, its facts and its text. */
export function readPdf(pdf: Buffer) {
  const file = pdf.toString('latin1')
  assert.match(file, /^%PDF-1\.7\n/)
  const [, table = ''] = /startxref\n(\d+)\n%%EOF\n$/.exec(file) ?? []
  const starts = [...file.slice(Number(table)).matchAll(/(\d{10}) 00000 n /g)].map(([, start]) => Number(start))
  const objects = starts.map((start, index) => {
    assert.ok(file.startsWith(`${index + 1} 0 obj\n`, start), `object ${index + 1}`)
    return file.slice(start, file.indexOf('\nendobj\n', start))
  })
  const object = (number: string | number) => objects[Number(number) - 1] ?? ''
  const [, names = ''] = /\/Font << (.*?) >>/.exec(object(3)) ?? []
  const fonts = new Map(
    [...names.matchAll(/\/(F\d) (\d+) 0 R/g)].map(([, name, at]) => [name, fontOf(object, at ?? '')]),
  )
  const marks = streamOf(object(4)).toString('latin1')
  const [, width, height] = /\/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]/.exec(object(3)) ?? []
  return {
    width: Number(width),
    height: Number(height),
    title: textOf(/\/Title <FEFF(\w+)>/.exec(object(5))?.[1]),
    language: textOf(/\/Lang <FEFF(\w+)>/.exec(object(1))?.[1]),
    /** Lines with their place. */
    lines: [...marks.matchAll(/\/(F\d) ([\d.]+) Tf 1 0 0 -1 ([\d.]+) ([\d.]+) Tm <(\w*)> Tj/g)].map(
      ([, font, size, x, y, glyphs = '']) => ({
        text: (glyphs.match(/.{4}/g) ?? []).map((glyph) => fonts.get(font)?.get(glyph)).join(''),
        size: Number(size),
        x: Number(x),
        y: Number(y),
      }),
    ),
  }
}

function fontOf(object: (number: string) => string, at: string): ReadonlyMap<string, string> {
  const [, map = ''] = /\/ToUnicode (\d+) 0 R/.exec(object(at)) ?? []
  const [, descendant = ''] = /\/DescendantFonts \[(\d+) 0 R\]/.exec(object(at)) ?? []
  const [, descriptor = ''] = /\/FontDescriptor (\d+) 0 R/.exec(object(descendant)) ?? []
  const [, file = ''] = /\/FontFile2 (\d+) 0 R/.exec(object(descriptor)) ?? []
  assert.equal(streamOf(object(file)).readUInt32BE(0), 0x00010000, 'the font is embedded')
  const text = streamOf(object(map)).toString('latin1')
  return new Map([...text.matchAll(/<(\w{4})> <(\w+)>/g)].map(([, glyph = '', unicode]) => [glyph, textOf(unicode)]))
}

function streamOf(object: string): Buffer {
  const [head = '', length = '', raw = ''] =
    /<< \/Length (\d+) \/Length1 (\d+) \/Filter \/FlateDecode >>\nstream\n/.exec(object) ?? []
  const start = object.indexOf(head) + head.length
  const bytes = inflateSync(Buffer.from(object.slice(start, start + Number(length)), 'latin1'))
  assert.equal(bytes.length, Number(raw))
  return bytes
}

function textOf(hex = ''): string {
  return Buffer.from(hex, 'hex').swap16().toString('utf16le')
}
