import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/**
 * `scripts/node scripts/participants.ts STR.csv PIX.csv 2026-12-01`: writes the names of institutions by ISPB that receipts show, from
 * the Central Bank's lists of the participants of STR and of Pix, and their date. Where they differ, the name is that of STR.
 */
const LISTS = {
  str: 'https://www.bcb.gov.br/content/estabilidadefinanceira/str1/ParticipantesSTR.csv',
  pix: 'https://www.bcb.gov.br/content/estabilidadefinanceira/participantes_pix/lista-participantes-instituicoes-em-adesao-pix-YYYYMMDD.csv',
}

const [str, pix, date] = process.argv.slice(2)
if (str === undefined || pix === undefined || date === undefined) {
  console.error(`Usage: scripts/node scripts/participants.ts STR.csv PIX.csv DATE\n${Object.values(LISTS).join('\n')}`)
  process.exit(2)
}

/** One list is in UTF-8, the other in Windows-1252. */
function textOf(path: string): string {
  const bytes = readFileSync(path)
  const text = new TextDecoder().decode(bytes)
  return text.includes('\uFFFD') ? new TextDecoder('windows-1252').decode(bytes) : text
}

function tidy(name: string): string {
  return name.replaceAll(/\s+/g, ' ').trim()
}

/** `00416968,BANCO INTER,077,…`; a name with a comma is in quotes. */
function participantsOfStr(text: string): [ispb: string, name: string][] {
  return [...text.matchAll(/^(\d{8}),(?:"([^"]*)"|([^,]*)),/gm)].map(([, ispb = '', quoted, plain = '']) => [
    ispb,
    tidy(quoted ?? plain),
  ])
}

/** `3;BANCO INTER;00416968;…`; a second table has institutions that have not joined yet. */
function participantsOfPix(text: string): [ispb: string, name: string][] {
  const [active = ''] = text.split(/^Lista de institui/m)
  return [...active.matchAll(/^\d+;([^;]*);(\d{8});/gm)].map(([, name = '', ispb = '']) => [ispb, tidy(name)])
}

const lists = [participantsOfPix(textOf(pix)), participantsOfStr(textOf(str))]
if (lists.some(({ length }) => length === 0)) throw new Error('a list has no participant: its form has changed')
const lines = [...new Map(lists.flat())].sort().map(([ispb, name]) => `${ispb} ${name}`)
const wrong = lines.filter((line) => !/^\d{8} [^`\\$]+$/.test(line))
if (wrong.length > 0) throw new Error(`not an institution: ${wrong.join(', ')}`)

const text = `/**
 * Short names of institutions by ISPB, of ${date}: facts that the Central Bank publishes in its lists of the participants of STR and
 * of Pix. Written by scripts/participants.ts, which has the addresses of the lists.
 */
const TEXT = \`
${lines.join('\n')}
\`

/** @source rules#receipt.3 */
export const participants: ReadonlyMap<string, string> = new Map(
  TEXT.trim()
    .split('\\n')
    .map((line) => [line.slice(0, 8), line.slice(9)]),
)
`
writeFileSync(fileURLToPath(import.meta.resolve('../packages/server/src/receipts/participants.ts')), text)
