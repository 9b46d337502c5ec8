/**
 * Addresses and differences of banks that implement the Central Bank's API Pix, from public documents and users' code.
 * docs/guides/banks.md lists what was tested against a bank. Every address that requests a client certificate gets
 * ours.
 * @source rules#api-pix.14
 */

export type BankEnvironment = 'sandbox' | 'production'

export interface AddedPart {
  readonly in: 'header' | 'query'
  readonly name: string
  readonly value: AddedValue
  /** Omitted when not configured. */
  readonly isOptional?: true
}

/** From our contract with the bank, or a new id for each call. */
export type AddedValue = 'client id' | 'application key' | 'account' | 'new id'

export interface Preset {
  readonly name: string
  /** Absent: nothing there follows the standard. */
  readonly addresses: Readonly<Partial<Record<BankEnvironment, BankAddresses>>>
  readonly token: TokenForm
  readonly added: readonly AddedPart[]
  /** Header that registers a callback address without mTLS; absent: not supported. */
  readonly registersWithoutMtlsBy?: string
  /** Windows of lists are in whole seconds. */
  readonly hasWholeSeconds?: true
  /** Documents, for verification. */
  readonly sources: readonly string[]
}

export interface BankAddresses {
  readonly api: string
  readonly token: string
  /** Path prefix of PATCH calls, if it differs from that of `api`. */
  readonly patchPath?: string
}

export interface TokenForm {
  readonly encoding: 'form' | 'json'
  /** Place of client id and secret: the header `Authorization`, or the body. Some banks issue no secret. */
  readonly credentials: 'header' | 'body' | 'id in body'
  /** Whether scopes are requested; otherwise the contract with the bank defines them. */
  readonly hasScopes: boolean
}

/** RFC 6749; also for banks without a preset. */
export const STANDARD_TOKEN: TokenForm = { encoding: 'form', credentials: 'header', hasScopes: true }

/** A library for these banks, corrected by its users. */
const ACBR = 'ProjetoACBr/ACBr, Fontes/ACBrPIXCD'

/** Banks by the value of `PIXGATE_BANK_PRESET`. */
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
      // The sandbox has its own kind of tokens and stores nothing.
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
      // The sandbox issues tokens by hand.
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
