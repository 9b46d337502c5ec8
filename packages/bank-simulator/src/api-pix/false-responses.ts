import type { Liar } from '../lies.ts'
import type { Cob } from './cob.ts'
import type { Devolucao, Pix } from './pix.ts'
import { centsOf, motivoOf, valorOf } from './values.ts'

/** Response body for a charge, or a lie about it. @source rules#sandbox.11, rules#sandbox.16 */
export function cobAnswer(liar: Liar, truth: Cob, others: () => Iterable<Cob>): Cob {
  const response = falsified(liar, truth, {
    foreignAnswer: () => another(others(), ({ txid }) => txid !== truth.txid),
    wrongAmount: () => ({
      ...truth,
      valor: { ...truth.valor, original: plusOneCentavo(truth.valor.original) },
      ...(truth.pix && { pix: truth.pix.map(withAnotherAmount) }),
    }),
    falseFailure: () => {
      const { pix: _, ...cob } = truth
      return { ...cob, status: 'REMOVIDA_PELO_PSP' as const }
    },
  })
  if (!liar.tells('codeWithheld')) return response
  const { pixCopiaECola: _, ...withoutCode } = response
  return withoutCode
}

/** Response body for a payment: the truth or a lie. */
export function pixAnswer(liar: Liar, truth: Pix, others: () => Iterable<Pix>): Pix {
  return falsified(liar, truth, {
    foreignAnswer: () => another(others(), ({ endToEndId }) => endToEndId !== truth.endToEndId),
    wrongAmount: () => withAnotherAmount(truth),
    falseFailure: () => truth,
  })
}

/** Response body for a return: the truth or a lie. */
export function devolucaoAnswer(liar: Liar, truth: Devolucao, others: () => Iterable<Devolucao>): Devolucao {
  return falsified(liar, truth, {
    foreignAnswer: () => another(others(), ({ rtrId }) => rtrId !== truth.rtrId),
    wrongAmount: () => ({ ...truth, valor: plusOneCentavo(truth.valor) }),
    falseFailure: () => {
      const { solicitacao } = truth.horario
      return { ...truth, horario: { solicitacao }, status: 'NAO_REALIZADO' as const, motivo: motivoOf('AC07') }
    },
  })
}

/** The truth, or the view of the lie to tell. */
export function falsified<View>(
  liar: Liar,
  truth: View,
  views: {
    readonly foreignAnswer: () => View | undefined
    readonly wrongAmount: () => View
    readonly falseFailure: () => View
  },
): View {
  const lie = liar.answerLie()
  return (lie && views[lie]()) ?? truth
}

/** An amount plus one centavo. */
export function plusOneCentavo(valor: string): string {
  return valorOf(centsOf(valor) + 1)
}

function withAnotherAmount(pix: Pix): Pix {
  return { ...pix, valor: plusOneCentavo(pix.valor) }
}

function another<View>(views: Iterable<View>, isAnother: (view: View) => boolean): View | undefined {
  for (const view of views) if (isAnother(view)) return view
  return undefined
}
