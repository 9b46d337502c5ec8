/** A fictitious account holder. */
export interface AccountHolder {
  readonly name: string
  readonly document: string
  /** ISPB of the account's bank. */
  readonly ispb: string
}

/** Holder of the account that this bank keeps: receives payments and sends payouts. */
export const MERCHANT: AccountHolder = { name: 'Loja Pixgate', document: '11222333000181', ispb: '99999001' }

/** Payer of a charge that names none. */
export const PAYER: AccountHolder = { name: 'Maria da Silva', document: '52998224725', ispb: '99999010' }

/** Holder of every Pix key at other banks. */
export const RECIPIENT: AccountHolder = { name: 'João Pereira', document: '39053344705', ispb: '99999028' }

/** CPF or CNPJ of a Pix key's holder. A key that is itself a CPF or CNPJ is the holder's document. */
export function documentOfKey(pixKey: string): string {
  return /^(?:\d{11}|[0-9A-Z]{12}\d{2})$/.test(pixKey) ? pixKey : RECIPIENT.document
}
