/**
 * What is wrong with a statement in OFX 1.0.2, by the document type of the standard as far as a statement of an account needs it.
 * Strict: elements in the order of the standard, each with its end, and text within its length.
 */
export function ofxFaults(ofx: string): string[] {
  const [head = '', markup = '', ...more] = ofx.split('\r\n\r\n')
  const faults = HEADERS.filter((line, at) => !line.test(head.split('\r\n')[at] ?? '')).map((line) => `header ${line}`)
  if (more.length > 0) faults.push('an empty line in the markup')
  if (/[^\r\n -~]/.test(ofx)) faults.push('what is no ASCII')
  if (/(?<!\r)\n|\r(?!\n)/.test(ofx)) faults.push('a line that does not end with CR LF')
  const { element, rest } = elementIn(markup)
  if (element?.name !== 'OFX' || rest.trim() !== '') return [...faults, 'the markup is not one element OFX']
  return [...faults, ...faultsOf(element)]
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
  BANKACCTFROM: 'BANKID ACCTID ACCTTYPE',
  BANKTRANLIST: 'DTSTART DTEND STMTTRN*',
  STMTTRN: 'TRNTYPE DTPOSTED TRNAMT FITID REFNUM? NAME MEMO?',
  LEDGERBAL: 'BALAMT DTASOF',
}

const TIME = /^\d{14}\[[-+]?\d{1,2}:[A-Z]{3}\]$/
const AMOUNT = /^-?\d{1,29}\.\d\d$/

const texts = (limit: number) => new RegExp(`^(?:[^<>&]|&(?:amp|lt|gt);){1,${limit}}$`)

const TEXTS: Readonly<Record<string, RegExp>> = {
  ...{ CODE: /^\d{1,6}$/, SEVERITY: /^(?:INFO|WARN|ERROR)$/, LANGUAGE: /^[A-Z]{3}$/, TRNUID: texts(36) },
  ...{ CURDEF: /^BRL$/, BANKID: texts(9), ACCTID: texts(22), ACCTTYPE: /^(?:CHECKING|SAVINGS)$/ },
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
