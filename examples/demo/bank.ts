import assert from 'node:assert/strict'
import type { Client } from './client.ts'

/** What the tour does at a bank that no client of Pixgate does: what payers and other merchants do. */
export interface DemoBank {
  /** As `PIXGATE_BANK` chooses it. */
  readonly name: BankName
  /** Lets somebody pay a charge. @returns the end-to-end id of the payment */
  pay(chargeId: string): Promise<string>
  /** Pix code of somebody else, who wants this amount. @param valueCents centavos */
  codeOfOther(valueCents: number): Promise<string>
}

/** The banks that the tour goes to. */
export const BANK_NAMES = ['pixgate', 'efi', 'api-pix'] as const

/** One of {@link BANK_NAMES}. */
export type BankName = (typeof BANK_NAMES)[number]

/** The manual's own example of a static code; it leaves the amount to the payer. */
const STATIC_CODE =
  '00020126580014br.gov.bcb.pix0136123e4567-e12b-12d1-a456-4266554400005204000053039865802BR5913Fulano de Tal6008BRASILIA62070503***63041D3D'

/** The simulated bank by our own protocol, through the sandbox's own controls. */
export function simulatedBank(pix: Client): DemoBank {
  return {
    name: 'pixgate',
    pay: async (id) => (await pix.post<{ endToEndId: string }>(`/sandbox/cash-in/${id}/pay`)).endToEndId,
    codeOfOther: async () => STATIC_CODE,
  }
}

/** The simulated bank by the Central Bank's standard, or as Efí, through its own controls. It knows a charge by its `txid`. */
export function standardBank(name: BankName, controls: Client, pix: Client): DemoBank {
  return {
    name,
    pay: async (id) => {
      const { providerTransactionId: txid } = await pix.get<{ providerTransactionId: string }>(`/api/pix/cash-in/${id}`)
      return (await controls.post<{ endToEndId: string }>(`/control/charges/${txid}/pay`)).endToEndId
    },
    codeOfOther: async (valueCents) => {
      const { pixCode } = await controls.post<{ pixCode: string }>('/control/qr-codes', { valueCents })
      assert.ok(pixCode, 'the bank has made no code')
      return pixCode
    },
  }
}
