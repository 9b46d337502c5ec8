import { limits } from '@pixgate/spec'
import { text, type Values, variables } from '../platform/variables.ts'
import type { ChargeRequest } from './port.ts'

/** Whose account it is that payments come in for: the service says it in its codes, and some banks want to be told. */
export const merchantVariables = variables({
  PIXGATE_MERCHANT_PIX_KEY: {
    shape: text(limits.pixKeyMaxLength),
    default: 'financeiro@loja.example',
    required: 'in production',
    description: 'The Pix key that receives.',
  },
  PIXGATE_MERCHANT_NAME: {
    shape: text(25),
    default: 'Loja Exemplo',
    required: 'in production',
    description: 'Name in the BR Code.',
  },
  PIXGATE_MERCHANT_CITY: {
    shape: text(15),
    default: 'Sao Paulo',
    required: 'in production',
    description: 'City in the BR Code.',
  },
})

/** Makes it of the values of its variables. */
export function merchantOf(values: Values<typeof merchantVariables>): ChargeRequest['merchant'] {
  return {
    pixKey: values.PIXGATE_MERCHANT_PIX_KEY,
    name: values.PIXGATE_MERCHANT_NAME,
    city: values.PIXGATE_MERCHANT_CITY,
  }
}
