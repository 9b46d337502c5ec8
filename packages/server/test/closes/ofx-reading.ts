/**
 * What is wrong with a statement in OFX 1.0.2, by the document type of the standard as far as a statement of an account needs it.
 * Strict: elements in the order of the standard, each with its end, and text within its length.
 */
export function ofxFaults(ofx: string): string[] {
  const [head = '', markup = '', ...more] = ofx.split('\r\n\r\n')
  const faults = HEADERS.filter((line, at) => !line.test(head.split('\r\n')[at] ?? '')).map((line) => `header ${line}`)
  if (more.length > 0) faults.push('an empty line in the markup')
  if (/[^\r\n\u0020-\u007e\u00a0-\u00ff€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ]/.test(ofx))
    faults.push('what is not of Windows-1252')
  if (/(?<!\r)\n|\r(?!\n)/.test(ofx)) faults.push('a line that does not end with CR LF')
  const { element, rest } = elementIn(markup)
  if (element?.name !== 'OFX' || rest.trim() !== '') return [...faults, 'the markup is not one element OFX']
  return [...faults, ...faultsOf(element)]
}

/** The text of a file in Windows-1252. */
export function textOf(bytes: Uint8Array): string {
  return new TextDecoder('windows-1252').decode(bytes)
}

/** A transaction, with its text as a reader shows it. */
export interface Transaction {
  readonly type: string
  readonly day: string
  readonly cents: bigint
  readonly fitid: string
  readonly refnum: string | undefined
  readonly name: string
  readonly memo: string
}

/** The transactions of a statement, in its order. */
export function transactionsOf(ofx: string): Transaction[] {
  return elementsOf(ofx, 'STMTTRN').map((text) => {
    const of = (name: string) =>
      elementsOf(text, name)[0]?.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&') ?? ''
    const day = of('DTPOSTED').replace(/^(\d{4})(\d\d)(\d\d)120000\[-3:BRT\]$/, '$1-$2-$3')
    return {
      ...{ type: of('TRNTYPE'), day, cents: ofxCents(of('TRNAMT')), fitid: of('FITID') },
      ...{ refnum: of('REFNUM') || undefined, name: of('NAME'), memo: of('MEMO') },
    }
  })
}

export function ofxCents(text = ''): bigint {
  return BigInt(text.replace('.', ''))
}

/** The contents of all elements of a name. */
export function elementsOf(ofx: string, name: string): string[] {
  return [...ofx.matchAll(new RegExp(`<${name}>(.*?)</${name}>`, 'gs'))].map(([, text = '']) => text)
}

const HEADERS = [
  /^OFXHEADER:100$/,
  /^DATA:OFXSGML$/,
  /^VERSION:102$/,
  /^SECURITY:NONE$/,
  /^ENCODING:USASCII$/,
  /^CHARSET:1252$/,
  /^COMPRESSION:NONE$/,
  /^OLDFILEUID:NONE$/,
  /^NEWFILEUID:NONE$/,
]

interface Element {
  readonly name: string
  readonly content: string
}

/** The element that a text begins with, and what follows it. No element stands in one of its own name. */
function elementIn(text: string): { readonly element?: Element; readonly rest: string } {
  const found = /^\s*<([A-Z0-9]+)>(.*?)<\/\1>(.*)$/s.exec(text)
  if (!found) return { rest: text }
  const [, name = '', content = '', rest = ''] = found
  return { element: { name, content }, rest }
}

/** A group has its parts in this order: as they are, at most once (`?`), or any number of times (`*`). */
const GROUPS: Readonly<Record<string, string>> = {
  OFX: 'SIGNONMSGSRSV1 BANKMSGSRSV1',
  SIGNONMSGSRSV1: 'SONRS',
  SONRS: 'STATUS DTSERVER LANGUAGE',
  STATUS: 'CODE SEVERITY',
  BANKMSGSRSV1: 'STMTTRNRS',
  STMTTRNRS: 'TRNUID STATUS STMTRS',
  STMTRS: 'CURDEF BANKACCTFROM BANKTRANLIST LEDGERBAL',
  BANKACCTFROM: 'BANKID BRANCHID? ACCTID ACCTTYPE',
  BANKTRANLIST: 'DTSTART DTEND STMTTRN*',
  STMTTRN: 'TRNTYPE DTPOSTED TRNAMT FITID REFNUM? NAME MEMO?',
  LEDGERBAL: 'BALAMT DTASOF',
}

const TIME = /^\d{14}\[[-+]?\d{1,2}:[A-Z]{3}\]$/
const AMOUNT = /^-?\d{1,29}\.\d\d$/

const texts = (limit: number) => new RegExp(`^(?:[^<>&]|&(?:amp|lt|gt);){1,${limit}}$`)

const TEXTS: Readonly<Record<string, RegExp>> = {
  ...{ CODE: /^\d{1,6}$/, SEVERITY: /^(?:INFO|WARN|ERROR)$/, LANGUAGE: /^[A-Z]{3}$/, TRNUID: texts(36) },
  ...{ CURDEF: /^BRL$/, BANKID: texts(9), BRANCHID: texts(22), ACCTID: texts(22), ACCTTYPE: /^(?:CHECKING|SAVINGS)$/ },
  ...{ DTSERVER: TIME, DTSTART: TIME, DTEND: TIME, DTPOSTED: TIME, DTASOF: TIME },
  ...{ TRNTYPE: /^(?:CREDIT|DEBIT|FEE)$/, TRNAMT: AMOUNT, BALAMT: AMOUNT, FITID: texts(255) },
  ...{ REFNUM: texts(32), NAME: texts(32), MEMO: texts(255) },
}

function faultsOf({ name, content }: Element): string[] {
  const group = GROUPS[name]
  if (group === undefined) return TEXTS[name]?.test(content) ? [] : [`${name} has «${content}»`]
  const parts: Element[] = []
  let left = content
  for (;;) {
    const { element, rest } = elementIn(left)
    left = rest
    if (!element) break
    parts.push(element)
  }
  const wanted = group.split(' ').map((part) => `(?:${part.replace(/[?*]$/, '')} )${/[?*]$/.exec(part)?.[0] ?? ''}`)
  const isInOrder = new RegExp(`^${wanted.join('')}$`).test(parts.map((part) => `${part.name} `).join(''))
  return [
    ...(isInOrder ? [] : [`${name} has ${parts.map((part) => part.name)} instead of ${group}`]),
    ...(left.trim() === '' ? [] : [`${name} has «${left.trim().slice(0, 40)}» between its elements`]),
    ...parts.flatMap(faultsOf),
  ]
}
