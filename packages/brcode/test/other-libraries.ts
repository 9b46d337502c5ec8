import { isDeepStrictEqual } from 'node:util'
import emvqr from 'emvqr'
import { hasError, isDynamicPix, isRecurrencePix, isStaticPix, parsePix } from 'pix-utils'
import { type BrCode, BrCodeError } from '../src/br-code.ts'
import { parseBrCode } from '../src/parse.ts'

/** The libraries that codes are compared with. */
export type Library = 'pix-utils' | 'emvqr'

/**
 * What was made of a code: it was read, and as it is read here where it is; it was read as another payment than here;
 * or it was refused.
 */
export type Verdict = 'reads' | 'misreads' | 'refuses'

/** The code as it is read here, or why it is not. */
export function readHere(code: string): BrCode | BrCodeError {
  try {
    return parseBrCode(code)
  } catch (error) {
    if (error instanceof BrCodeError) return error
    throw error
  }
}

/** What `library` makes of a code that is `here` here. */
export function verdictOf(library: Library, code: string, here: BrCode | BrCodeError): Verdict {
  const there = READERS[library](code)
  if (there === undefined) return 'refuses'
  return here instanceof BrCodeError || isDeepStrictEqual(there, paymentOf(here)) ? 'reads' : 'misreads'
}

/** What every library can say of a code. */
interface Payment {
  readonly merchantName: string | undefined
  readonly merchantCity: string | undefined
  readonly url?: string | undefined
  readonly recurrenceUrl: string | undefined
  readonly pixKey?: string | undefined
  readonly amountCents?: number | undefined
  readonly txid?: string | undefined
  readonly additionalInformation?: string | undefined
  readonly withdrawalFacilitatorIspb?: string | undefined
}

function paymentOf(code: BrCode): Payment {
  const { merchantName, merchantCity, recurrenceUrl } = code
  const shared = { merchantName, merchantCity, recurrenceUrl }
  if (code.kind === 'recurrence') return shared
  if (code.kind === 'dynamic') return { ...shared, url: code.url }
  return {
    ...shared,
    pixKey: code.pixKey,
    amountCents: code.amountCents === undefined ? undefined : Number(code.amountCents),
    txid: code.txid,
    additionalInformation: code.additionalInformation,
    withdrawalFacilitatorIspb: code.kind === 'withdrawal' ? code.withdrawalFacilitatorIspb : undefined,
  }
}

const READERS: Record<Library, (code: string) => Payment | undefined> = {
  'pix-utils': (code) => {
    const pix = unlessThrown(() => parsePix(code))
    if (!pix || hasError(pix)) return undefined
    if (isStaticPix(pix)) {
      const { merchantName, merchantCity, urlRec, pixKey, transactionAmount, txid, infoAdicional, fss } = pix
      return {
        merchantName,
        merchantCity,
        recurrenceUrl: urlRec,
        pixKey,
        amountCents: transactionAmount ? Math.round(transactionAmount * 100) : undefined,
        txid: txid === '***' ? undefined : txid,
        additionalInformation: infoAdicional,
        withdrawalFacilitatorIspb: fss,
      }
    }
    if (!isDynamicPix(pix) && !isRecurrencePix(pix)) return undefined
    const { merchantName, merchantCity, urlRec, url } = pix
    return { merchantName, merchantCity, recurrenceUrl: urlRec, ...(url && { url }) }
  },

  // It reads EMV objects and knows nothing of Pix: what they mean there is looked up here.
  emvqr: (code) =>
    unlessThrown(() => {
      const objects = emvqr.decode(code)
      const templates = (first: number, last: number) =>
        Object.entries(objects).flatMap(([id, { data }]) => {
          if (!(Number(id) >= first && Number(id) <= last)) return []
          const template = typeof data === 'string' ? emvqr.decodeSubData(data) : data
          return template['00']?.data.toLowerCase() === 'br.gov.bcb.pix' ? [template] : []
        })
      const [account] = templates(26, 51)
      const [recurrence] = templates(80, 99)
      const shared = {
        merchantName: objects['59']?.data,
        merchantCity: objects['60']?.data,
        recurrenceUrl: recurrence?.['25']?.data,
      }
      const url = account?.['25']?.data
      const pixKey = account?.['01']?.data
      if (!pixKey) return { ...shared, ...(url && { url }) }
      const amount = objects['54']?.data
      const txid = objects['62']?.data['05']?.data
      return {
        ...shared,
        pixKey,
        amountCents: amount === undefined ? undefined : Math.round(Number(amount) * 100),
        txid: txid === '***' ? undefined : txid,
        additionalInformation: account['02']?.data,
        withdrawalFacilitatorIspb: account['03']?.data,
      }
    }),
}

/** Both throw whatever comes where they meet what they did not expect. */
function unlessThrown<Value>(run: () => Value): Value | undefined {
  try {
    return run()
  } catch {
    return undefined
  }
}
