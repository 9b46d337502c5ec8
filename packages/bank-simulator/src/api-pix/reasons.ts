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
