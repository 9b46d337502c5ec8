import { type Font, readFont } from './font.ts'
import { type Colour, PdfPage, type TextStyle, widthOf } from './pdf.ts'
import { type Party, RECEIPT, type Receipt } from './receipt.ts'

/** Draws a receipt on a sheet of A4. A receipt that needs more gets a longer sheet. */

const WIDTH = 595.28
const HEIGHT = 841.89
const MARGIN = 62
const INNER = WIDTH - 2 * MARGIN
const GAP = 28
const COLUMN = (INNER - GAP) / 2
const LABELS = 132

const INK: Colour = [0.07, 0.08, 0.1]
const QUIET: Colour = [0.38, 0.4, 0.44]
const LINE: Colour = [0.87, 0.88, 0.9]
const TINT: Colour = [0.96, 0.965, 0.972]

/** Read at the first receipt: most processes of an installation make none. */
let fonts: { readonly regular: Font; readonly bold: Font } | undefined

function stylesOf() {
  fonts ??= {
    regular: readFont('Geist-Regular', '@expo-google-fonts/geist/400Regular/Geist_400Regular.ttf'),
    bold: readFont('Geist-SemiBold', '@expo-google-fonts/geist/600SemiBold/Geist_600SemiBold.ttf'),
  }
  const { regular, bold } = fonts
  return {
    small: { font: regular, size: 9, colour: QUIET },
    label: { font: regular, size: 10, colour: QUIET },
    value: { font: regular, size: 10.5, colour: INK },
    name: { font: bold, size: 12, colour: INK },
    title: { font: bold, size: 17, colour: INK },
    amount: { font: bold, size: 36, colour: INK },
  } satisfies Record<string, TextStyle>
}

type Styles = ReturnType<typeof stylesOf>

/** @source rules#receipt.5 */
export function receiptPdf(receipt: Receipt): Promise<Buffer> {
  const page = new PdfPage()
  const styles = stylesOf()
  let y = drawHead(page, styles, receipt)
  y = drawParties(page, styles, receipt, rule(page, y + 26) + 30)
  y = rule(page, y + 20) + 30
  for (const [label, value] of receipt.details) y = drawDetail(page, styles, label, value, y)
  y = rule(page, y + 2) + 26
  y = drawLines(page, receipt.footer, MARGIN, y, INNER, styles.small)
  return page.pdf(WIDTH, Math.max(HEIGHT, y + MARGIN), {
    title: `${RECEIPT} – ${receipt.title}`,
    author: receipt.issuer,
    language: 'pt-BR',
    createdAt: receipt.updatedAt,
  })
}

function drawHead(page: PdfPage, styles: Styles, { title, issuer, amount, at, returned }: Receipt): number {
  const right = WIDTH - MARGIN
  page.text(RECEIPT, MARGIN, MARGIN + 10, styles.label)
  page.text(issuer, right - widthOf(issuer, styles.label), MARGIN + 10, styles.label)
  page.text(title, MARGIN, MARGIN + 40, styles.title)
  page.text(amount, MARGIN - 2, MARGIN + 92, styles.amount)
  let y = drawLines(page, at, MARGIN, MARGIN + 118, INNER, styles.value)
  if (returned === null) return y - lineHeight(styles.value)
  y += 4
  const lines = wrapped(returned, INNER - 32, styles.value)
  const height = 20 + lines.length * lineHeight(styles.value)
  page.box(MARGIN, y, INNER, height, TINT)
  drawLines(page, returned, MARGIN + 16, y + 23, INNER - 32, styles.value)
  return y + height
}

/** Payer and payee beside each other. @returns the lower end */
function drawParties(page: PdfPage, styles: Styles, { payer, payee }: Receipt, y: number): number {
  const ends = [payer, payee].map((party, index) => drawParty(page, styles, party, MARGIN + index * (COLUMN + GAP), y))
  return Math.max(...ends)
}

function drawParty(page: PdfPage, styles: Styles, { role, name, facts }: Party, x: number, top: number): number {
  page.text(role, x, top, styles.label)
  let y = drawLines(page, name, x, top + 20, COLUMN, styles.name) + 4
  for (const [label, value] of facts) {
    page.text(label, x, y, styles.small)
    y = drawLines(page, value, x, y + 14, COLUMN, styles.value) + 6
  }
  return y - lineHeight(styles.value)
}

function drawDetail(page: PdfPage, styles: Styles, label: string, value: string, y: number): number {
  page.text(label, MARGIN, y, styles.label)
  return drawLines(page, value, MARGIN + LABELS, y, INNER - LABELS, styles.value) + 7
}

function rule(page: PdfPage, y: number): number {
  page.box(MARGIN, y, INNER, 0.75, LINE)
  return y
}

/** @returns the base line after the last one */
function drawLines(page: PdfPage, text: string, x: number, y: number, width: number, style: TextStyle): number {
  const lines = wrapped(text, width, style)
  for (const [index, line] of lines.entries()) page.text(line, x, y + index * lineHeight(style), style)
  return y + lines.length * lineHeight(style)
}

function lineHeight({ size }: Pick<TextStyle, 'size'>): number {
  return size * 1.45
}

/** Breaks between words, and inside a word that is longer than a line. */
function wrapped(text: string, width: number, style: TextStyle): string[] {
  const lines: string[] = []
  let line = ''
  const fits = (longer: string) => widthOf(longer, style) <= width
  for (const word of text.split(/[ \n]+/)) {
    const longer = line === '' ? word : `${line} ${word}`
    if (fits(longer)) {
      line = longer
      continue
    }
    if (line !== '') lines.push(line)
    line = ''
    for (const character of word) {
      if (line !== '' && !fits(line + character)) {
        lines.push(line)
        line = ''
      }
      line += character
    }
  }
  return [...lines, line]
}
