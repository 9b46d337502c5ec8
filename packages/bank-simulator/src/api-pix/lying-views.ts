import type { Liar } from '../lies.ts'
import { centsOf, valorOf } from './amounts.ts'
import type { Cob } from './cob.ts'
import type { Devolucao, Pix } from './pix.ts'

/** Why something failed that did not. */
const FALSE_REASON = 'AC07: the account is closed'

/** What is told of a charge. @param others the other charges @source rules#sandbox.11, rules#sandbox.16 */
export function cobAnswer(liar: Liar, truth: Cob, others: () => Iterable<Cob>): Cob {
  const told = falsified(liar, truth, {
    foreignAnswer: () => another(others(), ({ txid }) => txid !== truth.txid),
    wrongAmount: () => ({
      ...truth,
      valor: { ...truth.valor, original: aCentavoMore(truth.valor.original) },
      ...(truth.pix && { pix: truth.pix.map(withAnotherAmount) }),
    }),
    falseFailure: () => {
      const { pix: _, ...cob } = truth
      return { ...cob, status: 'REMOVIDA_PELO_PSP' as const }
    },
  })
  if (!liar.tells('codeWithheld')) return told
  const { pixCopiaECola: _, ...withoutCode } = told
  return withoutCode
}

/** What is told of a payment. */
export function pixAnswer(liar: Liar, truth: Pix, others: () => Iterable<Pix>): Pix {
  return falsified(liar, truth, {
    foreignAnswer: () => another(others(), ({ endToEndId }) => endToEndId !== truth.endToEndId),
    wrongAmount: () => withAnotherAmount(truth),
    falseFailure: () => truth,
  })
}

/** What is told of a return. */
export function devolucaoAnswer(liar: Liar, truth: Devolucao, others: () => Iterable<Devolucao>): Devolucao {
  return falsified(liar, truth, {
    foreignAnswer: () => another(others(), ({ rtrId }) => rtrId !== truth.rtrId),
    wrongAmount: () => ({ ...truth, valor: aCentavoMore(truth.valor) }),
    falseFailure: () => {
      const { solicitacao } = truth.horario
      return { ...truth, horario: { solicitacao }, status: 'NAO_REALIZADO' as const, motivo: FALSE_REASON }
    },
  })
}

/** A lie of the three that answers can tell, or the truth. */
export function falsified<View>(
  liar: Liar,
  truth: View,
  views: {
    readonly foreignAnswer: () => View | undefined
    readonly wrongAmount: () => View
    readonly falseFailure: () => View
  },
): View {
  const lie = liar.falsehood()
  return (lie && views[lie]()) ?? truth
}

/** A centavo more than an amount. */
export function aCentavoMore(valor: string): string {
  return valorOf(centsOf(valor) + 1)
}

function withAnotherAmount(pix: Pix): Pix {
  return { ...pix, valor: aCentavoMore(pix.valor) }
}

function another<View>(views: Iterable<View>, isAnother: (view: View) => boolean): View | undefined {
  for (const view of views) if (isAnother(view)) return view
  return undefined
}
