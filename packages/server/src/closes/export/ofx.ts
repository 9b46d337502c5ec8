import { entryId } from '../../ledger/index.ts'
import { localTime } from '../../platform/sao-paulo.ts'
import { decimalText } from './csv.ts'
import type { AccountOfPeriod, PeriodEntry } from './store.ts'

/** A statement of the merchant's account as OFX 1.0.2, which programs of Brazil read. Pure. */

/** The period of a statement, epoch milliseconds; `to` is not in it. */
interface Period {
  readonly from: number
  readonly to: number
}

/** What stands before the first transaction. @param madeAt epoch milliseconds @source rules#export.4 */
export function ofxHead({ publicId }: AccountOfPeriod, { from, to }: Period, madeAt: number): string {
  return [
    ...HEADERS,
    '',
    '<OFX>',
    '<SIGNONMSGSRSV1><SONRS>',
    STATUS,
    element('DTSERVER', ofxTime(madeAt)),
    element('LANGUAGE', 'POR'),
    '</SONRS></SIGNONMSGSRSV1>',
    '<BANKMSGSRSV1><STMTTRNRS>',
    element('TRNUID', '0'),
    STATUS,
    '<STMTRS>',
    element('CURDEF', 'BRL'),
    '<BANKACCTFROM>',
    element('BANKID', 'PIXGATE'),
    // The format has room for 22 characters.
    element('ACCTID', publicId.replaceAll('-', '').slice(0, 22)),
    element('ACCTTYPE', 'CHECKING'),
    '</BANKACCTFROM>',
    '<BANKTRANLIST>',
    element('DTSTART', ofxTime(from)),
    element('DTEND', ofxTime(to - 1)),
    '',
  ].join(END)
}

/** One transaction: an entry of the available account, under its id of the ledger. @source rules#export.4 */
export function ofxTransaction({ publicId }: AccountOfPeriod, entry: PeriodEntry): string {
  const { amountCents, shown, at, version, externalId, movementId } = entry
  const type = amountCents > 0n ? 'CREDIT' : 'DEBIT'
  return [
    '<STMTTRN>',
    element('TRNTYPE', shown === 'FEE' ? 'FEE' : type),
    element('DTPOSTED', ofxTime(at)),
    element('TRNAMT', decimalText(amountCents, '.')),
    element('FITID', entryId(publicId, version)),
    ...(movementId && movementId.length <= 32 ? [element('REFNUM', movementId)] : []),
    element('NAME', (shown ?? 'ENTRY').slice(0, 32)),
    ...(externalId ? [element('MEMO', externalId.slice(0, 255))] : []),
    '</STMTTRN>',
    '',
  ].join(END)
}

/** What stands behind the last one: the balance. @source rules#export.4 */
export function ofxEnd({ closingCents }: AccountOfPeriod, { to }: Period): string {
  return [
    '</BANKTRANLIST>',
    '<LEDGERBAL>',
    element('BALAMT', decimalText(closingCents, '.')),
    element('DTASOF', ofxTime(to - 1)),
    '</LEDGERBAL>',
    '</STMTRS></STMTTRNRS></BANKMSGSRSV1>',
    '</OFX>',
    '',
  ].join(END)
}

const END = '\r\n'

const HEADERS = [
  'OFXHEADER:100',
  'DATA:OFXSGML',
  'VERSION:102',
  'SECURITY:NONE',
  'ENCODING:USASCII',
  'CHARSET:1252',
  'COMPRESSION:NONE',
  'OLDFILEUID:NONE',
  'NEWFILEUID:NONE',
]

const STATUS = '<STATUS><CODE>0</CODE><SEVERITY>INFO</SEVERITY></STATUS>'

/** Letters of other alphabets have no place in it, and markup none as text. */
function element(name: string, text: string): string {
  const plain = text.replaceAll(/[^\u0020-\u007e]/gu, '?')
  return `<${name}>${plain.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')}</${name}>`
}

/** `20261122235959[-3:BRT]`: what clocks in São Paulo show, and how far they are from UTC. */
function ofxTime(instantMs: number): string {
  const { day, time } = localTime(instantMs)
  const shown = Date.parse(`${day}T${time}Z`)
  const hours = Math.round((shown - Math.floor(instantMs / 1_000) * 1_000) / 3_600_000)
  return `${day.replaceAll('-', '')}${time.replaceAll(':', '')}[${hours}:BRT]`
}
