import assert from 'node:assert/strict'
import type { Client } from './client.ts'

/** Actions of payers and other merchants at the bank, which a client of Pixgate cannot perform. */
export interface DemoBank {
  /** Value of `PIXGATE_BANK`. */
  readonly name: BankName
  /** Pays a charge. @returns the EndToEndId of the payment */
  pay(chargeId: string): Promise<string>
  /** Pix code of another merchant for this amount. @param valueCents centavos */
  codeOfOther(valueCents: number): Promise<string>
}

/** Banks that the demo supports. */
export const BANK_NAMES = ['pixgate', 'efi', 'api-pix'] as const

/** One of {@link BANK_NAMES}. */
export type BankName = (typeof BANK_NAMES)[number]

/** Static code from the examples in the BR Code manual; the payer chooses the amount. */
const STATIC_CODE =
  '00020126580014br.gov.bcb.pix0136123e4567-e12b-12d1-a456-4266554400005204000053039865802BR5913Fulano de Tal6008BRASILIA62070503***63041D3D'

/** The simulated bank with the partner protocol, through the sandbox's controls. */
export function simulatedBank(pix: Client): DemoBank {
  return {
    name: 'pixgate',
    pay: async (id) => (await pix.post<{ endToEndId: string }>(`/sandbox/cash-in/${id}/pay`)).endToEndId,
    codeOfOther: async () => STATIC_CODE,
  }
}

/** The simulated bank with API Pix or as Efí, through the bank's own controls. They identify a charge by its `txid`. */
export function standardBank(name: BankName, controls: Client, pix: Client): DemoBank {
  return {
    name,
    pay: async (id) => {
      const { providerTransactionId: txid } = await pix.get<{ providerTransactionId: string }>(`/api/pix/cash-in/${id}`)
      return (await controls.post<{ endToEndId: string }>(`/control/charges/${txid}/pay`)).endToEndId
    },
    codeOfOther: async (valueCents) => {
      const { pixCode } = await controls.post<{ pixCode: string }>('/control/qr-codes', { valueCents })
      assert.ok(pixCode, 'the bank returned no code')
      return pixCode
    },
  }
}
