/**
 * Where banks are that follow the Central Bank's API Pix, and in what each differs. All of it is from documents that anybody may
 * read; which of it a person has tried against the bank, docs/guides/banks.md says.
 */

/** Which of a bank's two places is meant. */
export type BankEnvironment = 'sandbox' | 'production'

/** A bank. */
export interface Preset {
  /** For people. */
  readonly name: string
  readonly addresses: Readonly<Record<BankEnvironment, BankAddresses>>
  /** How a token is asked for: the standard's form, unless the bank takes only JSON. */
  readonly tokenEncoding: 'form' | 'json'
}

/** Where a bank is. */
export interface BankAddresses {
  /** What goes before every path of the standard, such as `/cob`. */
  readonly api: string
  readonly token: string
}

/** The banks by the word that chooses one: the value of `PIXGATE_BANK_PRESET`. */
export const presets = {
  efi: {
    name: 'Efí',
    addresses: {
      production: {
        api: 'https://pix.api.efipay.com.br/v2',
        token: 'https://pix.api.efipay.com.br/oauth/token',
      },
      sandbox: {
        api: 'https://pix-h.api.efipay.com.br/v2',
        token: 'https://pix-h.api.efipay.com.br/oauth/token',
      },
    },
    tokenEncoding: 'json',
  },
} as const satisfies Readonly<Record<string, Preset>>
