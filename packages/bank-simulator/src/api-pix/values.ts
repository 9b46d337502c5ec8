/** Amounts, people and reasons as API Pix writes them. */

/** Pattern of an amount. @source BCB, API Pix (valor) */
export const AMOUNT = '^\\d{1,10}\\.\\d{2}$'

/** Formats centavos as `\d{1,10}\.\d{2}`, with a minus sign if an account is overdrawn. */
export function valorOf(cents: number): string {
  const digits = String(Math.abs(cents)).padStart(3, '0')
  return `${cents < 0 ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`
}

/** Parses a text that matches {@link AMOUNT} to centavos. */
export function centsOf(valor: string): number {
  return Number(valor.replace('.', ''))
}

/** Name and CPF or CNPJ of a person or company. */
interface Named {
  readonly name: string
  readonly document: string
}

/** A person or company as API Pix returns it. */
export interface Person {
  readonly nome: string
  readonly cpf?: string
  readonly cnpj?: string
}

/** Formats a person or company as API Pix returns it. */
export function personOf({ name: nome, document }: Named): Person {
  return document.length === 11 ? { cpf: document, nome } : { cnpj: document, nome }
}

/** Formats a person or company as Efí returns it: a CPF is partly masked. */
export function maskedPerson({ name: nome, document }: Named): Person {
  const [, first, second] = /^\d{3}(\d{3})(\d{3})\d{2}$/.exec(document) ?? []
  return first === undefined ? { nome, cnpj: document } : { nome, cpf: `***.${first}.${second}-**` }
}

/** Texts of reason codes of the instant payment system (SPI). @source BCB, Catálogo de Mensagens do SPI */
const REASONS: Readonly<Record<string, string>> = {
  AB03: 'Liquidação da transação interrompida devido a timeout no SPI',
  AB09: 'Transação interrompida devido a erro no participante do usuário recebedor',
  AB11: 'Timeout do participante emissor da ordem de pagamento',
  AC03: 'Conta do usuário recebedor inexistente ou inválida',
  AC06: 'Conta do usuário recebedor bloqueada',
  AC07: 'Conta do usuário recebedor encerrada',
  AM02: 'Valor supera o limite da conta do usuário recebedor',
  AM04: 'Saldo insuficiente na conta PI do participante pagador',
  BE01: 'CPF ou CNPJ não é o do titular da conta',
  DS04: 'Ordem rejeitada pelo participante do usuário recebedor',
  ED05: 'Erro no processamento da liquidação',
  FRAD: 'Suspeita de fraude',
}

/** Text of a failure with a reason code, as API Pix returns it. */
export function motivoOf(code: string): string {
  return `${code}: ${REASONS[code] ?? 'Rejeitado pelo participante do usuário recebedor'}`
}
