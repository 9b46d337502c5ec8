/** Who has an account somewhere; none of them exists. */
export interface AccountHolder {
  readonly name: string
  readonly document: string
  /** Of the bank where the account is. */
  readonly ispb: string
}

/** Whose account this bank keeps: payments come in for them and go out from them. */
export const MERCHANT: AccountHolder = { name: 'Loja Pixgate', document: '11222333000181', ispb: '99999001' }

/** Pays a charge that names no payer. */
export const PAYER: AccountHolder = { name: 'Maria da Silva', document: '52998224725', ispb: '99999010' }

/** Has every Pix key at other banks. */
export const RECIPIENT: AccountHolder = { name: 'João Pereira', document: '39053344705', ispb: '99999028' }

/** Whose document a Pix key leads to: a key that is a CPF or a CNPJ is its holder's own. */
export function documentBehind(pixKey: string): string {
  return /^(?:\d{11}|[0-9A-Z]{12}\d{2})$/.test(pixKey) ? pixKey : RECIPIENT.document
}
