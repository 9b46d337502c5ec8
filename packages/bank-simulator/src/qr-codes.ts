import { BrCodeError, buildDynamicBrCode, parseBrCode } from '@pixgate/brcode'
import type { PartnerQrCode } from '@pixgate/spec'
import { type AccountHolder, documentBehind, MERCHANT, RECIPIENT } from './account-holders.ts'
import type { Book } from './book.ts'
import type { Chance } from './chance.ts'
import { chargeStatus } from './charges.ts'
import type { Clock } from './clock.ts'
import type { ForeignCodeTerms } from './facts.ts'
import { locationElsewhere } from './locations.ts'
import { Refused } from './refused.ts'

/** A payout of a code that was decoded. */
export interface DecodedOrder {
  readonly pixCode: string
  readonly decodeId: string
  readonly valueCents: number
}

/** What a code asks for. */
export interface Payable {
  /** Absent where the payer chooses. */
  readonly valueCents?: number
  readonly txid: string
  /** ISO 8601. */
  readonly expiresAt?: string
  readonly recipient: AccountHolder & { readonly pixKey: string }
  /** Of a dynamic code. */
  readonly location?: string
}

/** What a code says that has no txid. */
const NO_TXID = '***'

/** The key behind every dynamic code of another bank. */
const FOREIGN_KEY = '123e4567-e89b-12d3-a456-426614174000'

/** What the rules need. */
export interface QrCodesOptions {
  readonly book: Book
  readonly clock: Clock
  readonly chance: Chance
}

/** The rules of Pix codes that the service wants to pay. */
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
   * Tells what a code asks for now, under an id of its own that a payout of it must name.
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
   * Tells whom a payout of a decoded code pays.
   * @throws Refused unknown_decoding · pix_code_not_payable · amount_mismatch (the code asks for another amount)
   */
  payable({ pixCode, decodeId, valueCents }: DecodedOrder): Payable {
    if (this.#book.decodings.get(decodeId) !== pixCode) {
      throw new Refused('unknown_decoding', 'the bank has not decoded this code under this id')
    }
    const payable = this.#read(pixCode)
    if (payable.valueCents !== undefined && payable.valueCents !== valueCents) {
      throw new Refused('amount_mismatch', 'the code asks for another amount')
    }
    return payable
  }

  /** Issues a dynamic code of another bank. @returns the Pix code */
  issue(terms: ForeignCodeTerms): string {
    const transactionId = this.#chance.transactionId()
    const pixCode = buildDynamicBrCode({
      url: locationElsewhere(transactionId),
      merchantName: RECIPIENT.name,
      merchantCity: 'Recife',
    })
    this.#book.record({ fact: 'code issued', at: this.#clock.now(), transactionId, pixCode, terms })
    return pixCode
  }

  #read(pixCode: string): Payable {
    const code = parsed(pixCode)
    if (code.kind === 'dynamic') return this.#readLocation(code.url)
    if (code.kind !== 'static') throw notPayable('the code is not one of a payment')
    const { pixKey, amountCents, txid = NO_TXID, merchantName: name } = code
    return {
      ...(amountCents !== undefined && { valueCents: Number(amountCents) }),
      txid,
      recipient: { ...RECIPIENT, name, document: documentBehind(pixKey), pixKey },
    }
  }

  #readLocation(location: string): Payable {
    const payable = this.#chargeAt(location) ?? this.#foreignCodeAt(location)
    if (!payable) throw notPayable('nothing is known of the code')
    const { expiresAt } = payable
    if (expiresAt !== undefined && Date.parse(expiresAt) <= this.#clock.now()) throw notPayable('the code expired')
    const earlier = this.#book.payoutAt(location)
    if (earlier && earlier.answer.status !== 'FAILED') throw notPayable('the code is paid, or about to be')
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
