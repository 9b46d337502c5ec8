import { BrCodeError, buildDynamicBrCode, parseBrCode } from '@pixgate/brcode'
import type { PartnerQrCode } from '@pixgate/spec'
import { type AccountHolder, documentOfKey, MERCHANT, RECIPIENT } from './account-holders.ts'
import type { Book } from './book.ts'
import type { Chance } from './chance.ts'
import { chargeStatus } from './charges.ts'
import type { Clock } from './clock.ts'
import type { ForeignCodeTerms } from './facts.ts'
import { locationAtOtherBank } from './locations.ts'
import { Refused } from './refused.ts'

/** Order to pay a decoded code. */
export interface DecodedOrder {
  readonly pixCode: string
  readonly decodeId: string
  readonly valueCents: number
}

/** Payment data of a code. */
export interface Payable {
  /** Absent if the payer chooses the amount. */
  readonly valueCents?: number
  readonly txid: string
  /** ISO 8601. */
  readonly expiresAt?: string
  readonly recipient: AccountHolder & { readonly pixKey: string }
  /** Location of a dynamic code. */
  readonly location?: string
}

/** Placeholder in a code without txid. */
const NO_TXID = '***'

/** Pix key of every dynamic code of another bank. */
const FOREIGN_KEY = '123e4567-e89b-12d3-a456-426614174000'

/** Dependencies of {@link QrCodes}. */
export interface QrCodesOptions {
  readonly book: Book
  readonly clock: Clock
  readonly chance: Chance
}

/** Rules for Pix codes that the service decodes and pays. */
export class QrCodes {
  readonly #book: Book
  readonly #clock: Clock
  readonly #chance: Chance

  constructor({ book, clock, chance }: QrCodesOptions) {
    this.#book = book
    this.#clock = clock
    this.#chance = chance
  }

  /**
   * Decodes a code: returns its current payment data with a new id, which a payout of the code must name.
   * @throws Refused invalid_request (no Pix code) · pix_code_not_payable
   * @source partner-protocol#qr-codes
   */
  decode(pixCode: string): PartnerQrCode {
    const { location: _, recipient, ...asked } = this.#read(pixCode)
    const decodeId = this.#chance.uuid()
    this.#book.record({ fact: 'code decoded', at: this.#clock.now(), decodeId, pixCode })
    const { name, document, pixKey } = recipient
    return { decodeId, status: 'ACTIVE', ...asked, recipient: { name, document, pixKey } }
  }

  /**
   * Payment data for a payout of a decoded code.
   * @throws Refused unknown_decoding · pix_code_not_payable · amount_mismatch (the code asks for another amount)
   */
  payable({ pixCode, decodeId, valueCents }: DecodedOrder): Payable {
    if (this.#book.decodings.get(decodeId) !== pixCode) {
      throw new Refused('unknown_decoding', 'the code was not decoded under this id')
    }
    const payable = this.#read(pixCode)
    if (payable.valueCents !== undefined && payable.valueCents !== valueCents) {
      throw new Refused('amount_mismatch', 'the code has another amount')
    }
    return payable
  }

  /** Issues a dynamic code of another bank. @returns the Pix code */
  issue(terms: ForeignCodeTerms): string {
    const transactionId = this.#chance.transactionId()
    const pixCode = buildDynamicBrCode({
      url: locationAtOtherBank(transactionId),
      merchantName: RECIPIENT.name,
      merchantCity: 'Recife',
    })
    this.#book.record({ fact: 'code issued', at: this.#clock.now(), transactionId, pixCode, terms })
    return pixCode
  }

  #read(pixCode: string): Payable {
    const code = parsed(pixCode)
    if (code.kind === 'dynamic') return this.#readLocation(code.url)
    if (code.kind !== 'static') throw notPayable('the code is not a payment code')
    const { pixKey, amountCents, txid = NO_TXID, merchantName: name } = code
    return {
      ...(amountCents !== undefined && { valueCents: Number(amountCents) }),
      txid,
      recipient: { ...RECIPIENT, name, document: documentOfKey(pixKey), pixKey },
    }
  }

  #readLocation(location: string): Payable {
    const payable = this.#chargeAt(location) ?? this.#foreignCodeAt(location)
    if (!payable) throw notPayable('the code is unknown')
    const { expiresAt } = payable
    if (expiresAt !== undefined && Date.parse(expiresAt) <= this.#clock.now()) throw notPayable('the code has expired')
    const earlier = this.#book.payoutAt(location)
    if (earlier && earlier.answer.status !== 'FAILED') throw notPayable('the code is already paid or being paid')
    return { ...payable, location }
  }

  #chargeAt(location: string): Payable | undefined {
    const charge = this.#book.chargeAt(location)
    if (!charge) return undefined
    const status = chargeStatus(charge, this.#clock.now())
    if (status !== 'ACTIVE') throw notPayable(`the charge is ${status}`)
    const { transactionId: txid, terms } = charge
    const { valueCents, expiresAt, merchant } = terms
    const recipient = { ...MERCHANT, name: merchant.name, pixKey: merchant.pixKey }
    return { valueCents, txid, expiresAt, recipient }
  }

  #foreignCodeAt(location: string): Payable | undefined {
    const code = this.#book.foreignCodes.get(location)
    if (!code) return undefined
    const { valueCents, expiresAt } = code.terms
    const recipient = { ...RECIPIENT, pixKey: FOREIGN_KEY }
    return { valueCents, txid: code.transactionId, ...(expiresAt !== undefined && { expiresAt }), recipient }
  }
}

function parsed(pixCode: string): ReturnType<typeof parseBrCode> {
  try {
    return parseBrCode(pixCode)
  } catch (error) {
    if (error instanceof BrCodeError) throw new Refused('invalid_request', error.message)
    throw error
  }
}

function notPayable(message: string): Refused {
  return new Refused('pix_code_not_payable', message)
}
