import type { AddedPart } from './additions.ts'

/**
 * Where banks are that follow the Central Bank's API Pix, and in what each differs. All of it is from documents that anybody may
 * read, or from the code of those who say that they use it; what nobody tells is left out. Which of it a person has tried against
 * the bank, docs/guides/banks.md says. A certificate is shown to whichever address of the bank asks for one: which do, need not
 * be said.
 * @source rules#api-pix.14
 */

/** Which of a bank's two places is meant. */
export type BankEnvironment = 'sandbox' | 'production'

/** A bank. */
export interface Preset {
  /** For people. */
  readonly name: string
  /** Absent: nothing that follows the standard is known there. */
  readonly addresses: Readonly<Partial<Record<BankEnvironment, BankAddresses>>>
  readonly token: TokenForm
  /** What each call carries besides the standard. */
  readonly added: readonly AddedPart[]
  /** Header by which an address is registered that asks for no certificate; absent: the bank has none. */
  readonly registersWithoutMtlsBy?: string
  /** Lists are asked for by whole seconds. */
  readonly hasWholeSeconds?: true
  /** Where it is told, for whoever checks it. */
  readonly sources: readonly string[]
}

/** Where a bank is. */
export interface BankAddresses {
  /** What goes before every path of the standard, such as `/cob`. */
  readonly api: string
  /** With its query, where it has one. */
  readonly token: string
  /** The path of `api` for calls with PATCH, where it is another one. */
  readonly patchPath?: string
}

/** How a token is asked for. */
export interface TokenForm {
  /** The standard's form, unless the bank takes only JSON. */
  readonly encoding: 'form' | 'json'
  /** Where the client id and secret stand: in the header `Authorization`, or in the body; some banks give out no secret. */
  readonly credentials: 'header' | 'body' | 'id in body'
  /** Whether the scopes are asked for; if not, the contract with the bank says which there are. */
  readonly hasScopes: boolean
}

/** As RFC 6749 has it, and a bank that nothing is known of. */
export const STANDARD_TOKEN: TokenForm = { encoding: 'form', credentials: 'header', hasScopes: true }

/** A library that reaches these banks, mended by those who use it. */
const ACBR = 'ProjetoACBr/ACBr, Fontes/ACBrPIXCD'

/** The banks by the word that chooses one: the value of `PIXGATE_BANK_PRESET`. */
export const presets = {
  efi: {
    name: 'Efí',
    addresses: {
      production: { api: 'https://pix.api.efipay.com.br/v2', token: 'https://pix.api.efipay.com.br/oauth/token' },
      sandbox: { api: 'https://pix-h.api.efipay.com.br/v2', token: 'https://pix-h.api.efipay.com.br/oauth/token' },
    },
    token: { ...STANDARD_TOKEN, encoding: 'json' },
    added: [],
    registersWithoutMtlsBy: 'x-skip-mtls-checking',
    sources: ['https://dev.efipay.com.br/docs/api-pix', 'efipay/sdk-node-apis-efi'],
  },
  'banco-do-brasil': {
    name: 'Banco do Brasil',
    addresses: {
      production: { api: 'https://api-pix.bb.com.br/pix/v2', token: 'https://oauth.bb.com.br/oauth/token' },
      sandbox: { api: 'https://api-pix.hm.bb.com.br/pix/v2', token: 'https://oauth.hm.bb.com.br/oauth/token' },
    },
    token: STANDARD_TOKEN,
    added: [{ in: 'query', name: 'gw-dev-app-key', value: 'application key' }],
    sources: ['https://developers.bb.com.br', `${ACBR}/ACBrPIXPSPBancoDoBrasil.pas`],
  },
  inter: {
    name: 'Inter',
    addresses: {
      production: {
        api: 'https://cdpj.partners.bancointer.com.br/pix/v2',
        token: 'https://cdpj.partners.bancointer.com.br/oauth/v2/token',
      },
      sandbox: {
        api: 'https://cdpj-sandbox.partners.uatinter.co/pix/v2',
        token: 'https://cdpj-sandbox.partners.uatinter.co/oauth/v2/token',
      },
    },
    token: { ...STANDARD_TOKEN, credentials: 'body' },
    added: [{ in: 'header', name: 'x-conta-corrente', value: 'account', isOptional: true }],
    sources: ['https://developers.inter.co/references/pix', `${ACBR}/ACBrPIXPSPInter.pas`],
  },
  itau: {
    name: 'Itaú',
    addresses: {
      // Its sandbox has tokens of its own kind, and remembers nothing.
      production: {
        api: 'https://secure.api.itau/pix_recebimentos/v2',
        token: 'https://sts.itau.com.br/api/oauth/token',
      },
    },
    token: { ...STANDARD_TOKEN, credentials: 'body', hasScopes: false },
    added: [
      { in: 'header', name: 'x-itau-apikey', value: 'client id' },
      { in: 'header', name: 'x-itau-correlationID', value: 'new id' },
    ],
    sources: ['https://devportal.itau.com.br/autenticacao-documentacao', `${ACBR}/ACBrPIXPSPItau.pas`],
  },
  santander: {
    name: 'Santander',
    addresses: {
      production: {
        api: 'https://trust-pix.santander.com.br/api/v1',
        token: 'https://trust-pix.santander.com.br/oauth/token?grant_type=client_credentials',
        patchPath: '/api/v2',
      },
      sandbox: {
        api: 'https://trust-pix-h.santander.com.br/api/v1',
        token: 'https://trust-pix-h.santander.com.br/oauth/token?grant_type=client_credentials',
        patchPath: '/api/v2',
      },
    },
    token: { ...STANDARD_TOKEN, credentials: 'body', hasScopes: false },
    added: [],
    hasWholeSeconds: true,
    sources: ['https://developer.santander.com.br', `${ACBR}/ACBrPIXPSPSantander.pas`],
  },
  sicoob: {
    name: 'Sicoob',
    addresses: {
      // Its sandbox gives tokens by hand.
      production: {
        api: 'https://api.sicoob.com.br/pix/api/v2',
        token: 'https://auth.sicoob.com.br/auth/realms/cooperado/protocol/openid-connect/token',
      },
    },
    token: { ...STANDARD_TOKEN, credentials: 'id in body' },
    added: [{ in: 'header', name: 'client_id', value: 'client id' }],
    sources: ['https://developers.sicoob.com.br', `${ACBR}/ACBrPIXPSPSicoob.pas`],
  },
  sicredi: {
    name: 'Sicredi',
    addresses: {
      production: { api: 'https://api-pix.sicredi.com.br/api/v2', token: 'https://api-pix.sicredi.com.br/oauth/token' },
      sandbox: {
        api: 'https://api-pix-h.sicredi.com.br/api/v2',
        token: 'https://api-pix-h.sicredi.com.br/oauth/token',
      },
    },
    token: STANDARD_TOKEN,
    added: [],
    sources: [`${ACBR}/ACBrPIXPSPSicredi.pas`],
  },
} as const satisfies Readonly<Record<string, Preset>>
