import type { Queries } from '../platform/db/database.ts'
import { dayOf } from '../platform/sao-paulo.ts'
import { boundsOfClose, type Close } from './closes.ts'
import { decimalText } from './csv.ts'
import { openStatement, type StatementLine } from './statement.ts'

/** The statement of a close as OFX 1.0.2, in Windows-1252. */

const CRLF = '\r\n'

const STATUS = '<STATUS><CODE>0</CODE><SEVERITY>INFO</SEVERITY></STATUS>'

/**
 * Writes the statement of a close.
 * @param account `PIXGATE_OFX_ACCOUNT`; `undefined`: derived from the ledger
 * @source rules#export.4, rules#export.5
 */
export async function* statementOfx(
  queries: Queries,
  { madeAt, content }: Pick<Close, 'madeAt' | 'content'>,
  account: string | undefined,
): AsyncGenerator<Buffer> {
  const period = boundsOfClose(content)
  const { accountId, closingCents, pages } = await openStatement(queries, period)
  const end = ofxDay(period.to - 1)
  yield windows1252([...headOf(accountOf(account, accountId), madeAt, ofxDay(period.from), end), ''].join(CRLF))
  for await (const lines of pages) {
    yield windows1252(lines.map(transactionsOf).join(''))
  }
  yield windows1252(
    [
      '</BANKTRANLIST>',
      '<LEDGERBAL>',
      element('BALAMT', decimalText(closingCents, '.')),
      element('DTASOF', end),
      '</LEDGERBAL>',
      '</STMTRS></STMTTRNRS></BANKMSGSRSV1>',
      '</OFX>',
      '',
    ].join(CRLF),
  )
}

function headOf(account: readonly string[], madeAt: number, from: string, to: string): string[] {
  return [
    // The format names its Windows character set so: «USASCII» with a code page.
    ...['OFXHEADER:100', 'DATA:OFXSGML', 'VERSION:102', 'SECURITY:NONE', 'ENCODING:USASCII', 'CHARSET:1252'],
    ...['COMPRESSION:NONE', 'OLDFILEUID:NONE', 'NEWFILEUID:NONE'],
    '',
    '<OFX>',
    '<SIGNONMSGSRSV1><SONRS>',
    STATUS,
    element('DTSERVER', `${new Date(madeAt).toISOString().replaceAll(/[-:T]|\..*/g, '')}[0:GMT]`),
    element('LANGUAGE', 'POR'),
    '</SONRS></SIGNONMSGSRSV1>',
    '<BANKMSGSRSV1><STMTTRNRS>',
    element('TRNUID', '0'),
    STATUS,
    '<STMTRS>',
    element('CURDEF', 'BRL'),
    '<BANKACCTFROM>',
    ...account,
    element('ACCTTYPE', 'CHECKING'),
    '</BANKACCTFROM>',
    '<BANKTRANLIST>',
    element('DTSTART', from),
    element('DTEND', to),
  ]
}

/** `341/12345-6` or `341/0001/12345-6`. Without it the bank is «PIXGATE» and the account the ledger's, in 22 characters. */
function accountOf(account: string | undefined, accountId: string): string[] {
  const [bank = '', ...rest] = account?.split('/') ?? ['PIXGATE', accountId.replaceAll('-', '').slice(0, 22)]
  const [branch, number = ''] = rest.length > 1 ? rest : [undefined, rest[0]]
  return [
    element('BANKID', bank),
    ...(branch === undefined ? [] : [element('BRANCHID', branch)]),
    element('ACCTID', number),
  ]
}

/** Noon in São Paulo: the same day for readers that convert to UTC and for those that ignore the zone. */
function ofxDay(instantMs: number): string {
  return `${dayOf(instantMs).replaceAll('-', '')}120000[-3:BRT]`
}

const NAME_MAX = 32
const REFNUM_MAX = 32
const MEMO_MAX = 255

/** The Pix, and its fee as a transaction of its own. */
function transactionsOf(line: StatementLine): string {
  const { id, cents, kind, fee, endToEndId, returnId, externalId } = line
  const party = ansi(line.name ?? (kind === 'Ajuste' ? (line.description ?? '') : ''))
  const title = party === '' ? kind : `${kind} – ${party}`
  const reference = returnId ?? endToEndId
  const ids = [reference && `ID ${reference}`, externalId && `ref. ${externalId}`].filter(Boolean)
  const type = cents > 0n ? 'CREDIT' : 'DEBIT'
  const shared = { at: line.at, reference }
  const pix = transaction({ ...shared, type, cents, id, name: title, memo: [title, ...ids].join('; ') })
  if (fee === null) return pix
  return pix + transaction({ ...shared, type: 'FEE', ...fee, name: fee.kind, memo: [fee.kind, ...ids].join('; ') })
}

interface Transaction {
  readonly type: 'CREDIT' | 'DEBIT' | 'FEE'
  readonly at: number
  readonly cents: bigint
  readonly id: string
  readonly reference: string | null
  readonly name: string
  readonly memo: string
}

function transaction({ type, at, cents, id, reference, name, memo }: Transaction): string {
  return [
    '<STMTTRN>',
    element('TRNTYPE', type),
    element('DTPOSTED', ofxDay(at)),
    element('TRNAMT', decimalText(cents, '.')),
    element('FITID', id),
    ...(reference && reference.length <= REFNUM_MAX ? [element('REFNUM', ansi(reference))] : []),
    element('NAME', cut(name, NAME_MAX)),
    element('MEMO', cut(memo, MEMO_MAX)),
    '</STMTTRN>',
    '',
  ].join(CRLF)
}

function cut(text: string, most: number): string {
  return ansi(text).slice(0, most).trimEnd()
}

/** The format allows no markup in text; an escape counts as one character. */
function element(name: string, text: string): string {
  return `<${name}>${text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')}</${name}>`
}

/** Bytes 0x80 to 0x9f of Windows-1252; five of them have no character. */
const FROM_80 = '€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ'

const FOREIGN = /[^\u0020-\u007e\u00a0-\u00ff€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ]/gu

/** Letters and signs without a decomposition. */
const SIMILAR: Readonly<Record<string, string>> = {
  ...{ Ł: 'L', ł: 'l', Đ: 'D', đ: 'd', Ħ: 'H', ħ: 'h', Ŧ: 'T', ŧ: 't', Ŋ: 'N', ŋ: 'n', ı: 'i', ĸ: 'k', ẞ: 'ß' },
  ...{ '\u2010': '-', '\u2012': '–', '\u2015': '—', '\u2212': '-', '\u2032': "'", '\u2033': '"', '\u2044': '/' },
}

/** Text of characters that Windows-1252 has: others become similar ones, or are left out. */
export function ansi(text: string): string {
  const known = text
    .normalize('NFC')
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
    .replaceAll(FOREIGN, (foreign) => {
      return SIMILAR[foreign] ?? foreign.normalize('NFKD').replaceAll(FOREIGN, (part) => SIMILAR[part] ?? '')
    })
  return known.replaceAll(/ {2,}/g, ' ').trim()
}

function windows1252(text: string): Buffer {
  const bytes = text.replaceAll(/[\u0100-\uffff]/g, (letter) => String.fromCharCode(0x80 + FROM_80.indexOf(letter)))
  return Buffer.from(bytes, 'latin1')
}
