/**
 * Sentences of the specification in Portuguese, by the English sentence: rules of the state tables, states, cases, decisions,
 * journals. Loaded with the first of them that is shown.
 */
export const said: Readonly<Record<string, string>> = {
  'An accepted request creates a `PENDING` cash-in.': 'Um pedido aceito cria uma cobrança que aguarda pagamento.',
  'After the expiry, written or not, only money changes the charge. A failure, refusal, contradiction or missing answer has no effect and sends no notification.':
    'Depois do vencimento, registrado ou não, só dinheiro muda a cobrança. Falha, recusa, contradição ou falta de resposta não têm efeito nem geram notificação.',
  'Another reference has no effect after the expiry either.':
    'Outra referência também não tem efeito depois do vencimento.',
  'Another reference for the same charge contradicts the order: a case opens.':
    'Outra referência para a mesma cobrança contradiz o pedido: abre-se um caso.',
  'Another reference after the end, or in doubt, is ignored.':
    'Outra referência depois do fim, ou em dúvida, é ignorada.',
  'The bank accepted the charge: its id and Pix code are stored.':
    'O banco aceitou a cobrança: o ID e o código Pix dela são guardados.',
  'The bank has the charge after all: it is `PENDING` again, with its Pix code.':
    'O banco tem a cobrança, afinal: ela volta a aguardar pagamento, com o código Pix.',
  'A late acceptance only fills in missing data.': 'Um aceite tardio só completa dados que faltavam.',
  'A late acceptance of a failed charge opens a case, and the charge is cancelled at the bank. Its Pix code is never shown.':
    'O aceite tardio de uma cobrança que falhou abre um caso, e a cobrança é cancelada no banco. O código Pix dela nunca é mostrado.',
  'The bank refused the charge: `FAILED`, with a notification.':
    'O banco recusou a cobrança: ela falhou, com notificação.',
  'The bank had refused the charge: `FAILED`, with a notification.':
    'O banco tinha recusado a cobrança: ela falhou, com notificação.',
  'A late refusal opens a case.': 'Uma recusa tardia abre um caso.',
  'After 15 minutes without an outcome the charge is in doubt, with a case. An unreachable bank counts as silent.':
    'Depois de 15 minutos sem resultado, a cobrança fica em dúvida, com um caso. Um banco fora do ar conta como silêncio.',
  'A call that failed before its first byte was sent is repeated under the same id until the charge expires.':
    'Uma chamada que falhou antes de enviar o primeiro byte é repetida com o mesmo ID até a cobrança vencer.',
  'A call without a known outcome sends no notification; the bank is queried.':
    'Uma chamada sem resultado conhecido não gera notificação; o banco é consultado.',
  'Another call without an outcome changes nothing; the bank is queried again.':
    'Outra chamada sem resultado não muda nada; o banco é consultado de novo.',
  'An answer that contradicts the order opens a case, and the Pix code is withheld.':
    'Uma resposta que contradiz o pedido abre um caso, e o código Pix não é mostrado.',
  'A charge that was never sent is cancelled at once, as the bank cannot have it.':
    'Uma cobrança que nunca foi enviada é cancelada na hora, pois o banco não pode tê-la.',
  'The requested cancellation is stored, and the charge is cancelled at the bank. Only the bank’s answer changes the state.':
    'O pedido de cancelamento é guardado, e a cobrança é cancelada no banco. Só a resposta do banco muda o estado.',
  'A charge whose cancellation is requested is not created again. If the bank never accepted it, proven absence cancels it.':
    'Uma cobrança com cancelamento pedido não é criada de novo. Se o banco nunca a aceitou, a ausência comprovada a cancela.',
  'The charge is `EXPIRED` once `expirationDate` has passed and the bank, queried first, reports its end or cancels it, without a payment. No notification is sent.':
    'A cobrança expira quando o prazo passou e o banco, consultado antes, informa o fim dela ou a cancela, sem pagamento. Não há notificação.',
  'A charge that the bank never accepted and does not find has expired, too.':
    'Uma cobrança que o banco nunca aceitou e não encontra também expirou.',
  'For a charge that the bank accepted, «not found» must be proven.':
    'Para uma cobrança que o banco aceitou, “não encontrada” precisa ser comprovado.',
  'Proven absence before the expiry is a contradiction: a case opens.':
    'A ausência comprovada antes do vencimento é uma contradição: abre-se um caso.',
  'Until absence is proven, the charge keeps its state; after the expiry it is cancelled at the bank.':
    'Até a ausência ser comprovada, a cobrança mantém o estado; depois do vencimento, é cancelada no banco.',
  'A failure reported by an event only changes no state: the bank is queried at once. Where the bank has no queries, the event counts.':
    'Uma falha informada só por um evento não muda o estado: o banco é consultado na hora. Se o banco não oferece consultas, o evento vale.',
  'A failure reported by a query makes the charge `FAILED`, with a notification. An earlier event’s failure code is used.':
    'Uma falha informada por uma consulta faz a cobrança falhar, com notificação. Vale o código de falha de um evento anterior.',
  'A failure reported by a query ends a missing answer, too.':
    'Uma falha informada por uma consulta também encerra a falta de resposta.',
  'The bank is right about a charge whose payment came to another charge: that it ended unpaid is no contradiction.':
    'O banco tem razão sobre uma cobrança cujo pagamento chegou em outra: terminar sem pagamento não é contradição.',
  'The bank, queried, reports the end of a charge whose payment is booked, and no payment: a case opens, and nothing is debited. The answer is kept for the operator.':
    'O banco, consultado, informa o fim de uma cobrança com pagamento lançado, sem pagamento: abre-se um caso, e nada é debitado. A resposta fica guardada para a decisão.',
  'A booked end-to-end id reported with another amount opens a case; nothing is booked again. The same holds where an event reported the other amount before the bank confirmed this one.':
    'Um ID E2E já lançado e informado com outro valor abre um caso; nada é lançado de novo. O mesmo vale quando um evento informou o outro valor antes de o banco confirmar este.',
  'The same holds in doubt.': 'O mesmo vale em dúvida.',
  'At most 20 unconfirmed payments reported by events are kept per charge. The twentieth opens a case; later ones only trigger a query, whose answer is booked like any other.':
    'No máximo 20 pagamentos não confirmados, informados por eventos, são guardados por cobrança. O vigésimo abre um caso; os seguintes só geram uma consulta, cuja resposta é lançada como qualquer outra.',
  'A payment reported by an event only is verified with the bank before booking: always in production; in the sandbox from `PIXGATE_VERIFY_CREDITS_FROM_CENTS` on, for a payment dated before its charge, for one that an unconfirmed event reported before, after 20 booked payments of the charge, and where the connector requires it. The event books nothing; the bank is queried at once, and its answer is booked.':
    'Um pagamento informado só por um evento é verificado no banco antes do lançamento: sempre em produção; no sandbox, a partir de `PIXGATE_VERIFY_CREDITS_FROM_CENTS`, para um pagamento com data anterior à cobrança, para um que outro evento já informou sem confirmação, depois de 20 pagamentos lançados da cobrança, e quando o conector exige. O evento não lança nada; o banco é consultado na hora, e a resposta é lançada.',
  'A movement belongs to exactly one operation. An end-to-end id that is booked elsewhere is not booked again: a case opens in any state.':
    'Um movimento pertence a exatamente uma operação. Um ID E2E lançado em outra não é lançado de novo: abre-se um caso em qualquer estado.',
  'A paid charge stays `PAID`.': 'Uma cobrança paga continua paga.',
  'In doubt, a second payment is booked in suspense, with a case.':
    'Em dúvida, um segundo pagamento vai para a conta transitória, com um caso.',
  'A payment of another amount is booked in suspense, with a case.':
    'Um pagamento de outro valor vai para a conta transitória, com um caso.',
  'A payment settled more than 60 s after `expirationDate` is booked in suspense, with a case.':
    'Um pagamento liquidado mais de 60 s depois do vencimento vai para a conta transitória, com um caso.',
  'A payment cannot predate its charge: it is booked in suspense, with a case. If only an event reports it, it is verified first.':
    'Um pagamento não pode ser anterior à cobrança: vai para a conta transitória, com um caso. Se só um evento o informa, é verificado antes.',
  'A payment in an answer that otherwise contradicts the order is booked in suspense, with a case. Payments under another charge’s id are not ours.':
    'Um pagamento em uma resposta que contradiz o pedido em outro ponto vai para a conta transitória, com um caso. Pagamentos com o ID de outra cobrança não são nossos.',
  'A confirmed payment of the exact value is credited, with a notification.':
    'Um pagamento confirmado do valor exato é creditado, com notificação.',
  'The same holds where the bank’s answer was missing.': 'O mesmo vale quando faltava a resposta do banco.',
  'The same holds up to 60 s after `expirationDate`.': 'O mesmo vale até 60 s depois do vencimento.',
  'A second payment is booked in suspense, with a case; the cash-in stays `PAID`.':
    'Um segundo pagamento vai para a conta transitória, com um caso; a cobrança continua paga.',
  'A payment of a failed charge is booked in suspense, with a case.':
    'O pagamento de uma cobrança que falhou vai para a conta transitória, com um caso.',
  'Any other payment in doubt is booked in suspense, with a case.':
    'Qualquer outro pagamento em dúvida vai para a conta transitória, com um caso.',
  'An accepted refund reserves its amount on the `PAID` cash-in.':
    'Uma devolução aceita reserva o seu valor na cobrança paga.',
  'A booked return id reported with another amount opens a case; nothing is booked again.':
    'Um ID de devolução já lançado e informado com outro valor abre um caso; nada é lançado de novo.',
  'The bank may return more than the value: it is counted, and a case opens.':
    'O banco pode devolver mais que o valor: conta-se, e abre-se um caso.',
  'A confirmed refund counts as returned instead of reserved.':
    'Uma devolução confirmada conta como devolvida, e não mais como reservada.',
  'The reserved amount of a failed refund becomes refundable again.':
    'O valor reservado de uma devolução que falhou volta a poder ser devolvido.',
  'Money returned beyond the reserved amount counts, too: the bank’s own return, or a refund executed in doubt or after its failure.':
    'Dinheiro devolvido além do reservado também conta: a devolução feita pelo próprio banco, ou uma devolução executada em dúvida ou depois da falha.',
  'The cash-in lists its refunds in flight: the amount of each, and the bank’s reference once known.':
    'A cobrança lista as suas devoluções em andamento: o valor de cada uma e, quando conhecida, a referência do banco.',
  'An answer about a refund excludes it as the explanation of a return that the bank names by the payment only: the refund ended otherwise, or the bank, queried at least 10 s after the return was reported, still has it in flight. «Not found» excludes nothing.':
    'Uma resposta sobre uma devolução a exclui como explicação de um retorno que o banco identifica só pelo pagamento: ela terminou de outro modo, ou o banco, consultado ao menos 10 s depois do aviso, ainda a tem em andamento. “Não encontrada” não exclui nada.',
  'The same holds for a return that names no refund, in any state.':
    'O mesmo vale, em qualquer estado, para um retorno que não nomeia nenhuma devolução.',
  'A return id that is booked on another operation is not booked again: a case opens.':
    'Um ID de devolução lançado em outra operação não é lançado de novo: abre-se um caso.',
  'A return without an id may equal a return of the same amount that is booked, in suspense or in doubt, or a refund in flight: a case opens, and nothing is booked.':
    'Um retorno sem ID pode ser igual a um do mesmo valor já lançado, em conta transitória ou em dúvida, ou a uma devolução em andamento: abre-se um caso, e nada é lançado.',
  'A return of the bank’s own without an id, from a bank without queries, is booked in suspense, with a case. If a return of that amount is reported with an id later, it is the same: it is booked, and its suspense (J12k) and case end.':
    'Uma devolução do próprio banco sem ID, de um banco sem consultas, vai para a conta transitória, com um caso. Se um retorno desse valor for informado depois com ID, é o mesmo: é lançado, e a transitória e o caso se encerram.',
  'A return is in doubt while a refund of the payment may explain it. Nothing is booked, and every such refund is queried at once. The notification follows the attribution.':
    'Um retorno fica em dúvida enquanto uma devolução do pagamento pode explicá-lo. Nada é lançado, e cada devolução dessas é consultada na hora. A notificação vem com a atribuição.',
  'A return of a payment in suspense reduces that suspense; the merchant, who was never credited, is not debited. The case closes when the suspense is empty. Without an end-to-end id, the only payment is meant.':
    'O retorno de um pagamento em conta transitória a reduz; o lojista, que nunca foi creditado, não é debitado. O caso se encerra quando ela zera. Sem ID E2E, vale o único pagamento.',
  'If the returned payment is unclear, or the return exceeds its suspense, the return is booked in suspense, with a case. The same holds for a payment that an operator credited or wrote off; a return of an attributed payment belongs to the other charge. While a payment of the charge is unconfirmed, such a return waits.':
    'Se não está claro qual pagamento voltou, ou o retorno excede a transitória, ele vai para a conta transitória, com um caso. O mesmo vale para um pagamento que uma pessoa creditou ou baixou; o retorno de um pagamento atribuído pertence à outra cobrança. Enquanto um pagamento da cobrança não está confirmado, o retorno espera.',
  'The bank’s own returns may exceed the value, too: they are counted, and a case opens.':
    'As devoluções do próprio banco também podem exceder o valor: contam-se, e abre-se um caso.',
  'A return is the bank’s own (J12) once every refund has ended otherwise or has another reference; one of another amount than any refund in flight is so at once.':
    'Um retorno é do próprio banco quando toda devolução terminou de outro modo ou tem outra referência; de valor diferente de qualquer devolução em andamento, já é.',
  'Reported again after its release, the return opens a case without another hold.':
    'Informado de novo depois de liberado, o retorno abre um caso sem nova retenção.',
  'After 15 minutes without an answer a case opens: the return is in suspense, and the available part is held (J12h). No debt arises.':
    'Depois de 15 minutos sem resposta abre-se um caso: o retorno fica em conta transitória, e a parte disponível é retida. Não surge dívida.',
  'Attribution to us or to the bank books the return, ends its hold and suspense (J12k) and closes the case, in one commit.':
    'A atribuição a nós ou ao banco lança o retorno, encerra a retenção e a transitória e fecha o caso, de uma só vez.',
  'Attribution before any hold only ends the doubt.': 'A atribuição antes de uma retenção só encerra a dúvida.',
  'Any doubt about a cash-in may request a query of the bank; the state does not change.':
    'Qualquer dúvida sobre uma cobrança pode pedir uma consulta ao banco; o estado não muda.',
  'A claim with a lease assigns the work to one process; the call follows outside any transaction.':
    'Uma reserva de trabalho com prazo o entrega a um só processo; a chamada vem depois, fora de qualquer transação.',
  'The bank has not reported the end of the charge an hour after `expirationDate`: a case opens. An hour outlasts most outages and still precedes the payer’s complaint. The case closes when the end is known.':
    'O banco não informou o fim da cobrança uma hora depois do vencimento: abre-se um caso. Uma hora supera a maioria das quedas e ainda antecede a reclamação do pagador. O caso se encerra quando o fim é conhecido.',
  'A payment reported by an event and unconfirmed by queries for 15 minutes opens a case, which closes on confirmation. Queries continue for a day.':
    'Um pagamento informado por um evento e não confirmado por consultas em 15 minutos abre um caso, que se encerra com a confirmação. As consultas seguem por um dia.',
  'Work without a change is due again as the state defines.':
    'Trabalho sem mudança volta a vencer como o estado define.',
  'An amount of the payment in suspense becomes the charge’s payment, if no payment was credited before. The merchant is notified, and may refund that amount; the rest stays in suspense. While another case keeps it in doubt, the charge stays in doubt. A charge whose credit was reversed is not paid again.':
    'Um valor do pagamento em conta transitória passa a ser o pagamento da cobrança, se nenhum foi creditado antes. O lojista é notificado e pode devolver esse valor; o resto fica na transitória. Enquanto outro caso mantém a dúvida, a cobrança segue em dúvida. Uma cobrança com crédito estornado não é paga de novo.',
  'Otherwise the charge is `PAID`.': 'A cobrança fica paga.',
  'An amount of the payment in suspense is returned to the payer through the bank: a refund is ordered, and the money stays in suspense until the bank confirms. A refusal changes nothing. The case closes when the suspense is empty.':
    'Um valor do pagamento em conta transitória é devolvido ao pagador pelo banco: pede-se uma devolução, e o dinheiro fica na transitória até o banco confirmar. Uma recusa não muda nada. O caso se encerra quando a transitória zera.',
  'An unclaimed payment is booked as a gain.': 'Um pagamento não reclamado é lançado como ganho.',
  'The payment belongs to another charge, and is booked there in the same commit.':
    'O pagamento pertence a outra cobrança e é lançado nela de uma só vez.',
  'A charge without a booked payment is paid by a payment of the exact value that an operator attributes from another charge. Any other payment is refused.':
    'Uma cobrança sem pagamento lançado é paga por um pagamento do valor exato que uma pessoa atribui de outra cobrança. Qualquer outro pagamento é recusado.',
  'The bank returned a credited payment, whole or in part: the merchant is debited, any shortfall becomes a debt, and it counts as returned. A return reported without an id gets the id that the operator names, so a later report of it is a duplicate. Beyond the rest of its credited payment, what is in suspense of that payment, or was booked of it as a gain, is taken first.':
    'O banco devolveu um pagamento creditado, todo ou em parte: o lojista é debitado, o que faltar vira dívida, e conta como devolvido. Um retorno informado sem ID recebe o ID que a pessoa informa, e um aviso posterior dele é uma repetição. Além do resto do pagamento creditado, usa-se primeiro o que dele está em conta transitória ou foi lançado como ganho.',
  'A return without a debtor is booked as a loss, and its id is stored likewise.':
    'Um retorno sem devedor é lançado como perda, e o ID dele é guardado do mesmo modo.',
  'An operator may know that no refund of ours explains the return: it is booked as the bank’s own (J12k and J12), and the case closes.':
    'Uma pessoa pode saber que nenhuma devolução nossa explica o retorno: ele é lançado como do próprio banco, e o caso se encerra.',
  'The bank’s own portal shows that the charge ended unpaid.':
    'O portal do banco mostra que a cobrança terminou sem pagamento.',
  'Before the expiry the charge waits for its payment again, and the bank is queried; another contradiction opens a case again.':
    'Antes do vencimento a cobrança volta a aguardar pagamento, e o banco é consultado; outra contradição abre um caso de novo.',
  'An explained case closes if no money is in suspense for it; nothing is booked.':
    'Um caso explicado se encerra se não há dinheiro dele em conta transitória; nada é lançado.',
  'The bank is queried again at once; the case stays open until an answer or another decision closes it.':
    'O banco é consultado de novo na hora; o caso fica aberto até uma resposta ou outra decisão encerrá-lo.',
  'An operator reverses a credit that the bank’s statement lacks: the charge is `FAILED` with the code `reversed_by_operator`, the merchant is notified, the fee is refunded, and any shortfall of the balance becomes a debt. Refused while a refund is in flight, after part of the payment was returned, or while another payment of the charge is in suspense.':
    'Uma pessoa estorna um crédito que o extrato do banco não tem: a cobrança falha com o código `reversed_by_operator`, o lojista é notificado, a tarifa é devolvida, e o que faltar no saldo vira dívida. Recusado com devolução em andamento, depois de parte devolvida, ou com outro pagamento da cobrança em conta transitória.',
  'The cash-in stays in doubt while another case that causes it is open.':
    'A cobrança fica em dúvida enquanto outro caso que a causa está aberto.',
  'The charge is `PAID` if a payment was credited, as the merchant was notified.':
    'A cobrança está paga se um pagamento foi creditado, pois o lojista foi notificado.',
  'The charge is `FAILED` again if it had failed, as the merchant was notified.':
    'A cobrança volta a ter falhado se já tinha falhado, pois o lojista foi notificado.',
  'The charge is `FAILED`, with the code `returned_to_payer` and a notification, if all payments were returned.':
    'A cobrança falhou, com o código `returned_to_payer` e notificação, se todos os pagamentos foram devolvidos.',
  'The charge is `EXPIRED` if its time is over.': 'A cobrança expirou se o prazo passou.',
  'Otherwise the charge is `FAILED`, with the code `decided_by_operator` and a notification.':
    'Senão a cobrança falhou, com o código `decided_by_operator` e notificação.',
  'The bank gave no answer within 15 minutes. One clear answer settles it.':
    'O banco não respondeu em 15 minutos. Uma resposta clara resolve.',
  'The bank’s answer or report contradicts the order, an earlier report, or the books. Operator action is required.':
    'A resposta ou o aviso do banco contradiz o pedido, um aviso anterior ou a escrituração. Uma pessoa precisa decidir.',
  'The charge waits for its payment. If a requested `pixCode` is missing, the bank has not answered yet: read it again.':
    'A cobrança aguarda o pagamento. Se falta o código Pix, o banco ainda não respondeu.',
  'The exact amount was paid and is booked. `refundedCents` shows what was returned.':
    'O valor exato foi pago e lançado.',
  '`expirationDate` has passed, and no payment is known. A payment made in time but reported late still makes it `PAID`. There is no notification of this status.':
    'O prazo passou, e nenhum pagamento é conhecido. Um pagamento feito a tempo e informado depois ainda a torna paga. Não há notificação deste estado.',
  'The bank refused the charge, reported its failure, or confirmed its cancellation, so it cannot be paid. `failureCode` and `failureReason` say why.':
    'O banco recusou a cobrança, informou falha ou confirmou o cancelamento: ela não pode ser paga.',
  'The bank has not reported the outcome, which is no failure. Read it every 60 seconds, and escalate after 15 minutes.':
    'O banco ainda não informou o resultado, o que não é uma falha. Ele é consultado até responder.',
  'In doubt. Either: The bank gave no answer within 15 minutes. One clear answer settles it. Or: The bank’s answer or report contradicts the order, an earlier report, or the books. Operator action is required. Do not conclude it in your systems: open a support ticket with its `id` and the `X-Correlation-ID`.':
    'Em dúvida: o banco não respondeu em 15 minutos, ou a resposta dele contradiz o pedido, um aviso anterior ou a escrituração. O caso diz o que falta.',
  'An accepted request reserves value and fee in the same commit, or nothing is stored.':
    'Um pedido aceito reserva valor e tarifa de uma só vez, ou nada é guardado.',
  'A payout not claimed within 24 hours is released, with a notification of `FAILED`. If the bank’s statement shows a debit for it, it is neither sent nor released, and the bank is queried.':
    'Um pagamento que não começou a ser enviado em 24 horas é liberado, com notificação de falha. Se o extrato do banco mostra um débito dele, não é enviado nem liberado, e o banco é consultado.',
  'If every attempt of 30 minutes failed before its first byte, nothing was sent, even if queries got no answer. Decided on the committed payout, not on the worker’s copy.':
    'Se toda tentativa de 30 minutos falhou antes do primeiro byte, nada foi enviado, mesmo que as consultas não tenham resposta. Decide-se pelo pagamento gravado, não pela cópia do processo.',
  'A definite refusal releases the money, with a notification, if it concerns the latest attempt, the bank does not have the order, and no other attempt may arrive.':
    'Uma recusa definitiva libera o dinheiro, com notificação, se é da última tentativa, o banco não tem a ordem e nenhuma outra tentativa pode chegar.',
  'A failure reported by a query releases the money, with a notification. An event suffices where the bank has no queries. A debit on the statement is booked first; meanwhile a failure releases nothing.':
    'Uma falha informada por uma consulta libera o dinheiro, com notificação. Um evento basta se o banco não oferece consultas. Um débito no extrato é lançado antes; até lá uma falha não libera nada.',
  'A payout that may not be sent again is `FAILED` once its absence is proven; never while in conflict.':
    'Um pagamento que não pode ser enviado de novo falha quando a ausência dele é comprovada; nunca em contradição.',
  'An operator refuses a payout that was not claimed: the reservation is released, with the code `not_approved` if it waited for an approval, otherwise `refused_by_operator`. A `RESERVED` payout has no attempts.':
    'Uma pessoa recusa um pagamento que não começou a ser enviado: a reserva é liberada, com o código `not_approved` se esperava aprovação, senão `refused_by_operator`. Um pagamento reservado não tem tentativas.',
  'A QR code that changed before the approval is not paid: `RELEASED` with the code `pix_code_changed`.':
    'Um QR Code que mudou antes da aprovação não é pago: o pagamento é liberado com o código `pix_code_changed`.',
  'Any other refusal releases nothing: a later attempt followed, the bank has the order, or another attempt may have arrived or may still arrive. The payout is not sent again; a query’s outcome or proven absence ends it.':
    'Qualquer outra recusa não libera nada: houve tentativa posterior, o banco tem a ordem, ou outra tentativa pode ter chegado ou ainda chegar. O pagamento não é enviado de novo; o resultado de uma consulta ou a ausência comprovada o encerra.',
  'A failure reported by an event only changes neither state nor money, even after the confirmation; the bank is queried.':
    'Uma falha informada só por um evento não muda estado nem dinheiro, nem depois da confirmação; o banco é consultado.',
  'After 15 minutes without an outcome the payout is in doubt, with a case. A timeout never releases money.':
    'Depois de 15 minutos sem resultado o pagamento fica em dúvida, com um caso. Um timeout nunca libera dinheiro.',
  'A failed query casts no doubt on an order that the bank has.':
    'Uma consulta que falhou não lança dúvida sobre uma ordem que o banco tem.',
  'A call without a known outcome sends no notification; the bank is queried. A timeout never releases money.':
    'Uma chamada sem resultado conhecido não gera notificação; o banco é consultado. Um timeout nunca libera dinheiro.',
  'In doubt for a missing answer, the bank is queried again after a minute.':
    'Em dúvida por falta de resposta, o banco é consultado de novo depois de um minuto.',
  '«Not found» by itself changes neither state nor money.': '“Não encontrado” por si só não muda estado nem dinheiro.',
  'An operator approves the payout. The last approval makes it due at once.':
    'Uma pessoa aprova o pagamento. A última aprovação o envia na hora.',
  'The claim makes the payout `DISPATCHED` before the call to the bank starts.':
    'O início do envio fica gravado antes de a chamada ao banco começar.',
  'A repeated attempt is a new claim under the same id: for 30 minutes after the first attempt, while no byte of any attempt was sent.':
    'Uma tentativa repetida é um novo envio com o mesmo ID: por 30 minutos desde a primeira, enquanto nenhum byte foi enviado.',
  'A bank with idempotent orders executes a repeated order once, within its stated window. After the lease has ended, the bank is queried first, if possible; if it does not find the order, or does not answer, the same bytes are sent again under the same id.':
    'Um banco com ordens idempotentes executa uma ordem repetida uma só vez, na janela que declara. Terminado o prazo do processo, o banco é consultado antes, se possível; se não a encontra, ou não responde, os mesmos bytes são enviados de novo com o mesmo ID.',
  'The bank accepted the order: it stays `DISPATCHED` until an outcome is reported.':
    'O banco aceitou a ordem: ela fica em andamento até haver um resultado.',
  'The bank has the order after all: it is `DISPATCHED` again.':
    'O banco tem a ordem, afinal: ela volta a ficar em andamento.',
  'A call that failed before its first byte is repeated under the same id after 1, 2, 4 … s, at most a minute, unless an earlier attempt may have been sent.':
    'Uma chamada que falhou antes do primeiro byte é repetida com o mesmo ID depois de 1, 2, 4 … s, no máximo um minuto, a não ser que uma tentativa anterior possa ter sido enviada.',
  'An answer that contradicts the order keeps the reservation and opens a case; the bank is queried once more, at once. If the answer is about our id, its reference is stored and matches later reports to this cash-out.':
    'Uma resposta que contradiz a ordem mantém a reserva e abre um caso; o banco é consultado mais uma vez, na hora. Se a resposta é sobre o nosso ID, a referência dela é guardada e liga avisos posteriores a este pagamento.',
  'An order that the bank has had for a day without an outcome opens one case. Queries continue; the outcome closes the case.':
    'Uma ordem que o banco tem há um dia sem resultado abre um caso. As consultas seguem; o resultado encerra o caso.',
  'Another event confirms a payout that was never sent according to our records: the bank is queried.':
    'Outro evento confirma um pagamento que, pelos nossos registros, nunca foi enviado: o banco é consultado.',
  'Where the bank supports queries, an event confirms a payout in flight only with the reference of the bank’s own answer, and never one that needed an approval. Otherwise the bank is queried, and the event waits until the answer is booked.':
    'Se o banco oferece consultas, um evento só confirma um pagamento em andamento com a referência da resposta do próprio banco, e nunca um que precisava de aprovação. Senão o banco é consultado, e o evento espera até a resposta ser lançada.',
  'An event books nothing on a payout that is confirmed, released or contradicted: the bank is queried, and the event waits until the answer is booked.':
    'Um evento não lança nada em um pagamento confirmado, liberado ou contradito: o banco é consultado, e o evento espera até a resposta ser lançada.',
  'Other values for an end-to-end id that is booked here, in suspense too, open a case and book nothing, in any state and whichever operation has the movement.':
    'Outros valores para um ID E2E lançado aqui, também em conta transitória, abrem um caso e não lançam nada, em qualquer estado e seja qual for a operação que tem o movimento.',
  'An event confirms a payout that was never sent according to our records: a case opens, the money stays reserved, the payout is not sent, and the bank is queried.':
    'Um evento confirma um pagamento que, pelos nossos registros, nunca foi enviado: abre-se um caso, o dinheiro continua reservado, o pagamento não é enviado, e o banco é consultado.',
  'The same holds for an answer of the bank that confirms it before it was sent.':
    'O mesmo vale para uma resposta do banco que o confirma antes de ser enviado.',
  'A confirmation of another amount or recipient is booked in suspense, with a case. A reservation stays; a released one is not taken again.':
    'Uma confirmação de outro valor ou recebedor vai para a conta transitória, com um caso. Uma reserva fica; uma liberada não é tomada de novo.',
  'Money left after its reservation was released: a case opens, and the available part of value and fee is held again.':
    'O dinheiro saiu depois de a reserva ser liberada: abre-se um caso, e a parte disponível de valor e tarifa é retida de novo.',
  'A confirmation of the exact amount books the payout, with a notification. A timestamp more than 300 s in the future is rejected as implausible.':
    'Uma confirmação do valor exato lança o pagamento, com notificação. Um horário mais de 300 s no futuro é rejeitado por implausível.',
  'The bank, queried, confirms a payout that was never sent according to our records: `CONFIRMED`. The closed case remains as evidence.':
    'O banco, consultado, confirma um pagamento que, pelos nossos registros, nunca foi enviado: confirmado. O caso encerrado fica como evidência.',
  'Any other debit in doubt is booked in suspense, with a case, in addition to the reservation.':
    'Qualquer outro débito em dúvida vai para a conta transitória, com um caso, além da reserva.',
  'Another end-to-end id is a second payment, booked in suspense with a case, even after the first was returned.':
    'Outro ID E2E é um segundo pagamento, lançado em conta transitória com um caso, mesmo depois de o primeiro ser devolvido.',
  'In doubt, a return reported by an event only is kept until a query confirms it.':
    'Em dúvida, uma devolução informada só por um evento é guardada até uma consulta confirmá-la.',
  'A return that an event reports under another payment’s end-to-end id credits nothing; the bank is queried.':
    'Uma devolução que um evento informa com o ID E2E de outro pagamento não credita nada; o banco é consultado.',
  'A return reported by an event only credits nothing, whatever its amount: the bank is queried, and the event waits until the answer is booked.':
    'Uma devolução informada só por um evento não credita nada, seja qual for o valor: o banco é consultado, e o evento espera até a resposta ser lançada.',
  'A booked return reported with another amount opens a case; nothing is booked again.':
    'Uma devolução lançada e informada com outro valor abre um caso; nada é lançado de novo.',
  'A return id that is booked on another operation is never credited again: a case opens.':
    'Um ID de devolução lançado em outra operação nunca é creditado de novo: abre-se um caso.',
  'A return without an id may equal a booked return of the same amount: a case opens, and nothing is booked. The same holds, once, for a return of that amount reported with an id later.':
    'Uma devolução sem ID pode ser igual a uma já lançada do mesmo valor: abre-se um caso, e nada é lançado. O mesmo vale, uma vez, para uma devolução desse valor informada depois com ID.',
  'A return without an id, from a bank without queries, is booked in suspense, with a case.':
    'Uma devolução sem ID, de um banco sem consultas, vai para a conta transitória, com um caso.',
  'A return beyond the payout is booked in suspense, with a case. So is one that does not name the confirming payment while another payment that was written off is not fully returned: it may recover that loss.':
    'Uma devolução além do pagamento vai para a conta transitória, com um caso. Também uma que não nomeia o pagamento confirmado enquanto outro, baixado, não foi todo devolvido: ela pode recuperar aquela perda.',
  'Returned money, whole or in part, is credited and notified once per return id; the fee is kept. A return that arrives before its confirmation waits, and both are booked in order.':
    'Dinheiro devolvido, todo ou em parte, é creditado e notificado uma vez por ID de devolução; a tarifa fica. Uma devolução que chega antes da confirmação espera, e as duas são lançadas em ordem.',
  'A return of an unconfirmed payout is not credited, as its reservation was released: a case opens, and the bank is queried.':
    'A devolução de um pagamento não confirmado não é creditada, pois a reserva dele foi liberada: abre-se um caso, e o banco é consultado.',
  'In doubt, a return reported by a query is booked in suspense, with a case.':
    'Em dúvida, uma devolução informada por uma consulta vai para a conta transitória, com um caso.',
  'A tariff on the bank’s statement is booked once, whatever became of the payout. The merchant pays only the configured fee.':
    'Uma tarifa no extrato do banco é lançada uma vez, seja qual for o fim do pagamento. O lojista paga só a tarifa configurada.',
  'Another reference after the confirmation opens a case.': 'Outra referência depois da confirmação abre um caso.',
  'A late answer only fills in missing data.': 'Uma resposta tardia só completa dados que faltavam.',
  'A refusal or «not found» after the confirmation opens a case.':
    'Uma recusa ou “não encontrado” depois da confirmação abre um caso.',
  'An answer that contradicts the order opens a case, too.': 'Uma resposta que contradiz a ordem também abre um caso.',
  'A failure reported by a query after the confirmation opens a case; nothing is released, and the bank is queried again. An event suffices where the bank has no queries.':
    'Uma falha informada por uma consulta depois da confirmação abre um caso; nada é liberado, e o banco é consultado de novo. Um evento basta se o banco não oferece consultas.',
  'A late acceptance, or an answer that contradicts the order, opens a case; the bank is queried.':
    'Um aceite tardio, ou uma resposta que contradiz a ordem, abre um caso; o banco é consultado.',
  'Any doubt about a cash-out may request a query of the bank; the state does not change.':
    'Qualquer dúvida sobre um pagamento pode pedir uma consulta ao banco; o estado não muda.',
  'A claim with a lease assigns the query to one process; the call follows outside any transaction.':
    'Uma reserva de trabalho com prazo entrega a consulta a um só processo; a chamada vem depois, fora de qualquer transação.',
  'The operator proves with the bank’s end-to-end id that the money left: booked like the bank’s confirmation, with a notification.':
    'Uma pessoa prova com o ID E2E do banco que o dinheiro saiu: lança-se como a confirmação do banco, com notificação.',
  'The same holds in doubt. Money in suspense is decided in its own case; an end-to-end id that is already booked proves nothing.':
    'O mesmo vale em dúvida. Dinheiro em conta transitória é decidido no caso dele; um ID E2E já lançado não prova nada.',
  'The bank told the operator that no money left: the reservation is released, with a notification. Refused while an attempt may still arrive.':
    'O banco disse à pessoa que nenhum dinheiro saiu: a reserva é liberada, com notificação. Recusado enquanto uma tentativa ainda pode chegar.',
  'The money in suspense is the payout: it is debited from the hold and the balance, with the fee. A shortfall becomes a debt; a surplus of the hold is released.':
    'O dinheiro em conta transitória é o pagamento: é debitado da retenção e do saldo, com a tarifa. O que faltar vira dívida; o excesso da retenção é liberado.',
  'The money in suspense is booked as a loss. A hold for it is released.':
    'O dinheiro em conta transitória é lançado como perda. Uma retenção dele é liberada.',
  'A return of a confirmed payout is credited, with a notification, up to the sum that left as the payout. If it may belong to another payment that is in suspense or written off, the operator names the payout’s end-to-end id.':
    'A devolução de um pagamento confirmado é creditada, com notificação, até a soma que saiu como pagamento. Se ela pode ser de outro pagamento em conta transitória ou baixado, a pessoa informa o ID E2E do pagamento.',
  'An unclaimed return is booked as a gain; for a payment that was written off it recovers the loss.':
    'Uma devolução não reclamada é lançada como ganho; de um pagamento baixado, recupera a perda.',
  'A case that waited for an outcome closes, too, once another decision confirmed the payout,':
    'Um caso que esperava um resultado também se encerra, quando outra decisão confirmou o pagamento,',
  'or released its reservation.': 'ou liberou a reserva dele.',
  'The cash-out stays in doubt while another case that causes it is open.':
    'O pagamento fica em dúvida enquanto outro caso que a causa está aberto.',
  'The cash-out is `REVERSED` if it was confirmed and partly or wholly returned.':
    'O pagamento está devolvido se foi confirmado e voltou, todo ou em parte.',
  'It is `CONFIRMED` if it was confirmed.': 'Está confirmado se foi confirmado.',
  'It is `FAILED` if its reservation was released. The merchant was notified of each of these when it was booked.':
    'Falhou se a reserva foi liberada. O lojista foi notificado de cada um destes ao ser lançado.',
  'It is `RESERVED` again if it was never claimed and the bank does not have it: it waits for its approval, or is sent.':
    'Volta a estar reservado se nunca começou a ser enviado e o banco não o tem: espera a aprovação ou é enviado.',
  'Otherwise the reservation stays, with a case: the bank is queried, and its outcome, or an operator, ends it.':
    'Senão a reserva fica, com um caso: o banco é consultado, e o resultado, ou uma pessoa, o encerra.',
  'The bank has reported no outcome for 15 minutes, or since an operator decided an earlier report. One clear answer settles it.':
    'O banco não informou resultado em 15 minutos, ou desde que uma pessoa decidiu um aviso anterior. Uma resposta clara resolve.',
  'An event confirms a payout that was never sent according to our records. The bank’s own answer settles it.':
    'Um evento confirma um pagamento que, pelos nossos registros, nunca foi enviado. A resposta do próprio banco resolve.',
  'Accepted: value and fee are reserved, and nothing was sent yet.':
    'Aceito: valor e tarifa estão reservados, e nada foi enviado ainda.',
  'Being sent, or accepted by the bank without an outcome yet.': 'Em envio, ou aceito pelo banco, ainda sem resultado.',
  'The bank confirmed that the money left.': 'O banco confirmou que o dinheiro saiu.',
  'The bank refused it or reported its failure, and no money left: the reservation is released. `failureCode` and `failureReason` say why.':
    'O banco recusou ou informou falha, e nenhum dinheiro saiu: a reserva foi liberada.',
  'Confirmed, then returned, whole or in part: `reversedCents` is the amount, which is credited.':
    'Confirmado e depois devolvido, todo ou em parte; o que voltou foi creditado.',
  'Never sent: not within 24 hours, or in 30 minutes of attempts that all failed before sending, or refused by an operator. The reservation is released. The notification’s status is `FAILED`.':
    'Nunca enviado: não em 24 horas, ou em 30 minutos de tentativas que falharam antes do envio, ou recusado por uma pessoa. A reserva foi liberada.',
  'The bank has not reported the outcome, which is no failure. Read it every 60 seconds, and escalate after 15 minutes. The reservation stays: never send it again as another payout.':
    'O banco ainda não informou o resultado, o que não é uma falha. Ele é consultado até responder. A reserva fica: não envie de novo como outro pagamento.',
  'In doubt. Either: The bank has reported no outcome for 15 minutes, or since an operator decided an earlier report. One clear answer settles it. Or: The bank’s answer or report contradicts the order, an earlier report, or the books. Operator action is required. Or: An event confirms a payout that was never sent according to our records. The bank’s own answer settles it. Do not conclude it in your systems: open a support ticket with its `id` and the `X-Correlation-ID`.':
    'Em dúvida: o banco não respondeu a tempo, contradisse a ordem, um aviso anterior ou a escrituração, ou um evento confirma um pagamento que nunca foi enviado. O caso diz o que falta.',
  'An accepted request reserves the amount at once. A refund that an operator orders of money in suspense reserves nothing: the suspense itself is kept, released or returned.':
    'Um pedido aceito reserva o valor na hora. Uma devolução que uma pessoa pede de dinheiro em conta transitória não reserva nada: a própria transitória é mantida, liberada ou devolvida.',
  'A return made by the bank itself (MED) is a refund, `CONFIRMED` from the start: the balance is debited, a shortfall becomes a debt, and the merchant is notified. It is never refused, even beyond the refundable amount.':
    'Uma devolução feita pelo próprio banco (MED) já nasce confirmada: o saldo é debitado, o que faltar vira dívida, e o lojista é notificado. Nunca é recusada, nem além do valor que pode ser devolvido.',
  'If every attempt of 30 minutes failed before its first byte, or 24 hours passed without one, it is `FAILED` with the code `never_sent`.':
    'Se toda tentativa de 30 minutos falhou antes do primeiro byte, ou passaram 24 horas sem nenhuma, ela falhou com o código `never_sent`.',
  'A failure that a query confirms releases the money, with a notification. A debit on the statement is booked first.':
    'Uma falha que uma consulta confirma libera o dinheiro, com notificação. Um débito no extrato é lançado antes.',
  'A refund that may not be sent again is `FAILED` once its absence is proven.':
    'Uma devolução que não pode ser enviada de novo falha quando a ausência dela é comprovada.',
  'An operator refuses a refund that was never claimed: the reservation is released, with the code `refused_by_operator`.':
    'Uma pessoa recusa uma devolução que não começou a ser enviada: a reserva é liberada, com o código `refused_by_operator`.',
  'Any other refusal releases nothing: a later attempt followed, the bank has the order, or another attempt may have arrived or may still arrive. The refund is not sent again; a query’s outcome or proven absence ends it.':
    'Qualquer outra recusa não libera nada: houve tentativa posterior, o banco tem a ordem, ou outra tentativa pode ter chegado ou ainda chegar. A devolução não é enviada de novo; o resultado de uma consulta ou a ausência comprovada a encerra.',
  'A failure of a refund that was never sent cannot be true.':
    'A falha de uma devolução que nunca foi enviada não pode ser verdade.',
  'A failure reported by an event only releases nothing; the bank is queried at once.':
    'Uma falha informada só por um evento não libera nada; o banco é consultado na hora.',
  'After 15 minutes without an outcome the refund is in doubt, with a case. One clear answer of the bank ends the doubt and closes the case.':
    'Depois de 15 minutos sem resultado a devolução fica em dúvida, com um caso. Uma resposta clara do banco encerra a dúvida e o caso.',
  'A call without a known outcome keeps the refund `PENDING` and its amount reserved; the bank is queried. A timeout never releases money.':
    'Uma chamada sem resultado conhecido mantém a devolução em andamento e o valor reservado; o banco é consultado. Um timeout nunca libera dinheiro.',
  'The claim precedes the call to the bank; a repeated attempt is a new claim under the same id.':
    'O início do envio é gravado antes da chamada ao banco; uma tentativa repetida é um novo envio com o mesmo ID.',
  'If queries do not find the order, or get no answer, it is sent again under the same id where the bank executes a repeated order once.':
    'Se as consultas não encontram a ordem, ou não têm resposta, ela é enviada de novo com o mesmo ID quando o banco executa uma ordem repetida uma só vez.',
  'While the bank may have returned the money in suspense by itself, the refund is not sent; it is checked again every five minutes.':
    'Enquanto o banco pode ter devolvido por si o dinheiro em conta transitória, a devolução não é enviada; verifica-se de novo a cada cinco minutos.',
  'The bank accepted the order: it stays `PENDING` until an outcome is reported.':
    'O banco aceitou a ordem: ela fica em andamento até haver um resultado.',
  'A call that failed before its first byte is repeated under the same id.':
    'Uma chamada que falhou antes do primeiro byte é repetida com o mesmo ID.',
  'An answer that contradicts the order opens a case; the bank is queried once more, and a reference for our id is stored.':
    'Uma resposta que contradiz a ordem abre um caso; o banco é consultado mais uma vez, e uma referência do nosso ID é guardada.',
  'Another event confirms a refund that was never sent: the bank is queried.':
    'Outro evento confirma uma devolução que nunca foi enviada: o banco é consultado.',
  'A confirmation that an event reports under another payment’s end-to-end id confirms nothing; the bank is queried.':
    'Uma confirmação que um evento informa com o ID E2E de outro pagamento não confirma nada; o banco é consultado.',
  'A booked return id reported with another amount opens a case and books nothing, whichever operation has the movement; an identical report is a duplicate.':
    'Um ID de devolução lançado e informado com outro valor abre um caso e não lança nada, seja qual for a operação que tem o movimento; um aviso idêntico é uma repetição.',
  'A return id that is booked on an operation of another payment is not booked again: a case opens in any state.':
    'Um ID de devolução lançado em uma operação de outro pagamento não é lançado de novo: abre-se um caso em qualquer estado.',
  'A confirmation of a refund that was never sent opens a case; it counts once a query confirms it.':
    'A confirmação de uma devolução que nunca foi enviada abre um caso; ela vale quando uma consulta a confirma.',
  'A confirmation by a return that is booked as another one opens a case; nothing is booked again.':
    'A confirmação por um retorno lançado como outro abre um caso; nada é lançado de novo.',
  'A confirmation without a return id, from a bank without queries, is booked in suspense, with a case; the reservation stays. A later report with an id, or one without an id after a return of that amount, opens a case only.':
    'Uma confirmação sem ID de devolução, de um banco sem consultas, vai para a conta transitória, com um caso; a reserva fica. Um aviso posterior com ID, ou um sem ID depois de um retorno desse valor, só abre um caso.',
  'A confirmation of another amount is booked in suspense, with a case, and counts as returned; the whole reservation stays.':
    'Uma confirmação de outro valor vai para a conta transitória, com um caso, e conta como devolvida; toda a reserva fica.',
  'A confirmation after a contradiction is booked in suspense, with a case.':
    'Uma confirmação depois de uma contradição vai para a conta transitória, com um caso.',
  'A refund of money in suspense left after the bank had returned that money by itself: it is booked in suspense, with a case. It is not sent once this is known.':
    'Uma devolução de dinheiro em conta transitória saiu depois de o banco já ter devolvido esse dinheiro por si: vai para a conta transitória, com um caso. Não é enviada depois que isso se sabe.',
  'A confirmation of the exact amount books the refund, with a notification. A pending answer to our call may then only fill in missing data.':
    'Uma confirmação do valor exato lança a devolução, com notificação. Uma resposta pendente à nossa chamada depois só completa dados que faltavam.',
  'Another return id is a second payment, booked in suspense with a case, and counts as returned.':
    'Outro ID de devolução é um segundo pagamento, lançado em conta transitória com um caso, e conta como devolvido.',
  'Another debit after the failure is booked in suspense.':
    'Outro débito depois da falha vai para a conta transitória.',
  'Money left after the failure: a case opens. The available part, at most the refund, is held again, and it counts against the refundable amount.':
    'O dinheiro saiu depois da falha: abre-se um caso. A parte disponível, no máximo a devolução, é retida de novo e conta no valor que pode ser devolvido.',
  'A refusal, «not found» or contradictory answer after the confirmation opens a case.':
    'Uma recusa, “não encontrado” ou resposta contraditória depois da confirmação abre um caso.',
  'A failure reported by an event only after the confirmation triggers a query.':
    'Uma falha informada só por um evento depois da confirmação gera uma consulta.',
  'A failure after the confirmation, reported by a query, or by an event of a bank without queries, opens a case; nothing is released.':
    'Uma falha depois da confirmação, informada por uma consulta ou por um evento de um banco sem consultas, abre um caso; nada é liberado.',
  'An acceptance after the failure, or an answer that contradicts the order, opens a case.':
    'Um aceite depois da falha, ou uma resposta que contradiz a ordem, abre um caso.',
  'A return made by the bank itself needs no query.': 'Uma devolução feita pelo próprio banco não precisa de consulta.',
  'Any doubt about a refund may request a query of the bank; the state does not change.':
    'Qualquer dúvida sobre uma devolução pode pedir uma consulta ao banco; o estado não muda.',
  'The operator proves with the bank’s return id that the money was returned: booked like the bank’s confirmation, with a notification. Refused if the suspense no longer covers it: then the bank’s report is booked in suspense, with a case. While another case keeps it in doubt, it stays in doubt.':
    'A pessoa prova com o ID de devolução do banco que o dinheiro foi devolvido: lança-se como a confirmação do banco, com notificação. Recusado se a transitória não cobre mais: então o aviso do banco vai para a conta transitória, com um caso. Enquanto outro caso mantém a dúvida, ela segue em dúvida.',
  'Otherwise the doubt ends.': 'Senão a dúvida termina.',
  'The bank told the operator that nothing was returned: the reservation is released, with a notification. Refused while an attempt may still arrive.':
    'O banco disse à pessoa que nada foi devolvido: a reserva é liberada, com notificação. Recusado enquanto uma tentativa ainda pode chegar.',
  'The money in suspense is the refund: it is debited from the hold and the balance. A shortfall becomes a debt; a surplus of the hold is released. While another case keeps it in doubt, it stays in doubt.':
    'O dinheiro em conta transitória é a devolução: é debitado da retenção e do saldo. O que faltar vira dívida; o excesso da retenção é liberado. Enquanto outro caso mantém a dúvida, ela segue em dúvida.',
  'A case that waited for an outcome closes, too, once another decision ended the refund.':
    'Um caso que esperava um resultado também se encerra quando outra decisão encerrou a devolução.',
  'The refund stays in doubt while another case that causes it is open.':
    'A devolução fica em dúvida enquanto outro caso que a causa está aberto.',
  'The doubt ends: the refund stays `CONFIRMED`,': 'A dúvida termina: a devolução continua confirmada,',
  'or `FAILED`;': 'ou falhou;',
  'it is `PENDING` again if it was never claimed and the bank does not have it, and is sent;':
    'volta a estar em andamento se nunca começou a ser enviada e o banco não a tem, e é enviada;',
  'otherwise the reservation stays, with a case: the bank is queried, and its outcome, or an operator, ends it.':
    'senão a reserva fica, com um caso: o banco é consultado, e o resultado, ou uma pessoa, o encerra.',
  'An event confirms a refund that was never sent according to our records. The bank’s own answer settles it.':
    'Um evento confirma uma devolução que, pelos nossos registros, nunca foi enviada. A resposta do próprio banco resolve.',
  'Accepted: the amount is reserved, and the bank has not confirmed it yet. A refund in doubt stays `PENDING`, too: after 15 minutes, open a support ticket with its `id` and the `X-Correlation-ID`, and do not send it again.':
    'Aceita: o valor está reservado, e o banco ainda não confirmou. Não peça de novo.',
  'The bank confirmed that the money was returned to the payer.': 'O banco confirmou que o dinheiro voltou ao pagador.',
  'Nothing was returned: the amount is available again. `failureCode` and `failureReason` say why.':
    'Nada foi devolvido: o valor está disponível de novo.',
  'A credit is available at once and repays a debt first. The ledger shows an `ADJUSTMENT` with the reason.':
    'Um crédito fica disponível na hora e antes paga uma dívida. A razão mostra um `ADJUSTMENT` com o motivo.',
  'An unexplained credit is held in suspense, with a case. The hold claims no movement, so an operation paid by it can book it.':
    'Um crédito sem explicação fica retido em conta transitória, com um caso. A retenção não reserva o movimento: uma operação paga por ele pode lançá-lo.',
  'Once an operation or an adjustment has booked it, or the bank returned all of it, the hold ends and the case closes.':
    'Quando uma operação ou um ajuste o lançou, ou o banco o devolveu todo, a retenção termina e o caso se encerra.',
  'An operator attributes it to an operation, which books it by its own table in the same commit.':
    'Uma pessoa o atribui a uma operação, que o lança pela própria tabela de uma só vez.',
  'A line that appears after an operator reversed its booking is in suspense under a movement that is booked once: the decision books nothing more.':
    'Uma linha que aparece depois de uma pessoa estornar o lançamento dela está em conta transitória sob um movimento lançado uma vez: a decisão não lança mais nada.',
  'Any other decision, or a partial return by the bank, claims the movement for the adjustment,':
    'Qualquer outra decisão, ou uma devolução parcial pelo banco, reserva o movimento para o ajuste,',
  'in suspense under its own id: no operation can book it any more. Both moves and what follows are one commit.':
    'em conta transitória com ID próprio: nenhuma operação pode mais lançá-lo. Os dois movimentos e o que segue são uma só gravação.',
  'The rest is credited to the merchant, and repays a debt first.':
    'O resto é creditado ao lojista e antes paga uma dívida.',
  'An amount is returned to the payer through the bank: a refund is ordered, and the money stays in suspense until the bank confirms. A refusal changes nothing. The case closes when the suspense is empty.':
    'Um valor do pagamento em conta transitória é devolvido ao pagador pelo banco: pede-se uma devolução, e o dinheiro fica na transitória até o banco confirmar. Uma recusa não muda nada. O caso se encerra quando a transitória zera.',
  'An unclaimed credit is booked as a gain.': 'Um pagamento não reclamado é lançado como ganho.',
  'A return by the bank itself reduces the suspense. The case closes when the suspense is empty.':
    'Uma devolução pelo próprio banco reduz a conta transitória. O caso se encerra quando ela zera.',
  'Its refunds are counted.': 'As devoluções dele são contadas.',
  'An unexplained debit is booked when it is decided who bears it: the merchant, for whom a shortfall becomes a debt,':
    'Um débito sem explicação é lançado quando se decide quem o assume: o lojista, para quem o que faltar vira dívida,',
  'or the house.': 'ou a casa.',
  'The same holds for a negative difference (bank minus books), and for a debit that appears after an operator reversed its booking.':
    'O mesmo vale para uma diferença negativa (banco menos escrituração) e para um débito que aparece depois de uma pessoa estornar o lançamento dele.',
  'A withdrawal is `DEBITED`. The merchant’s servers receive no notification of adjustments.':
    'Um saque está debitado. Os servidores do lojista não recebem notificação de ajustes.',
  'It is a loss if the house bears it.': 'É perda se a casa o assume.',
  'A positive difference that is not credited to the merchant is a gain of the house.':
    'Uma diferença positiva que não é creditada ao lojista é ganho da casa.',
  'Credited to the merchant.': 'Creditado ao lojista.',
  'Debited for a withdrawal.': 'Debitado por um saque.',
  'A credit on the bank’s statement without an operation, held in suspense.':
    'Um crédito no extrato do banco sem operação, retido em conta transitória.',
  'Was held until an operation explained it.': 'Ficou retido até uma operação explicá-lo.',
  'An operator decided that it belongs to no operation. The rest is in suspense.':
    'Uma pessoa decidiu que não pertence a nenhuma operação. O resto está em conta transitória.',
  'A gain of the house.': 'Um ganho da casa.',
  'A debit, or a credit that the bank lacks, borne by the merchant.':
    'Um débito, ou um crédito que o banco não tem, assumido pelo lojista.',
  'A debit, or a credit that the bank lacks, borne by the house.':
    'Um débito, ou um crédito que o banco não tem, assumido pela casa.',
  'A payment arrived that does not match the charge: another amount, a second payment, outside its time, or while the charge was in doubt. The money is in suspense.':
    'Chegou um pagamento que não confere com a cobrança: outro valor, um segundo pagamento, fora do prazo, ou com a cobrança em dúvida. O dinheiro está em conta transitória.',
  'Events reported payments of the charge that the bank, queried, does not confirm. Nothing was booked.':
    'Eventos informaram pagamentos da cobrança que o banco, consultado, não confirma. Nada foi lançado.',
  'The bank gave no clear answer about the charge: none, a contradictory one, or one after the charge had ended. No payment was booked.':
    'O banco não deu resposta clara sobre a cobrança: nenhuma, uma contraditória, ou uma depois do fim dela. Nenhum pagamento foi lançado.',
  'The outcome of the order is missing, or contradicts the order. The money stays reserved.':
    'O resultado da ordem falta, ou contradiz a ordem. O dinheiro continua reservado.',
  'The bank contradicts an earlier report, or the books. No money is in suspense.':
    'O banco contradiz um aviso anterior ou a escrituração. Não há dinheiro em conta transitória.',
  'Money left that cannot be attributed to the operation yet. It is in suspense; a reservation stays.':
    'Saiu dinheiro que ainda não pode ser atribuído à operação. Está em conta transitória; uma reserva fica.',
  'Money of the payout was returned, and it is unclear whether it is credited. It is in suspense.':
    'Dinheiro do pagamento foi devolvido, e não está claro se deve ser creditado. Está em conta transitória.',
  'The bank reports a movement that is booked on another operation. Nothing was booked here.':
    'O banco informa um movimento lançado em outra operação. Nada foi lançado aqui.',
  'Money was returned, and the bank has not said for 15 minutes whether a refund in flight explains it. The available part is held.':
    'Dinheiro foi devolvido, e o banco não disse em 15 minutos se uma devolução em andamento o explica. A parte disponível está retida.',
  'The bank’s statement has a credit that no operation explains. It is in suspense.':
    'O extrato do banco tem um crédito que nenhuma operação explica. Está em conta transitória.',
  'The bank’s statement has a debit that the books lack. It is not booked.':
    'O extrato do banco tem um débito que a escrituração não tem. Não está lançado.',
  'Attribute the movement to the operation that you name; its own table books it.':
    'Atribui o movimento à operação que você informar; a tabela dela o lança.',
  'Book it at the merchant’s expense; a shortfall of the balance becomes a debt.':
    'Lança por conta do lojista; o que faltar no saldo vira dívida.',
  'Book it as a loss.': 'Lança como perda.',
  'The books have a movement that the bank’s statement lacks. It stays booked.':
    'A escrituração tem um movimento que o extrato do banco não tem. Ele continua lançado.',
  'Reverse the credit that the bank lacks: its charge fails, the merchant is notified, and a shortfall of the balance becomes a debt.':
    'Estorna o crédito que o banco não tem: a cobrança dele falha, o lojista é notificado, e o que faltar no saldo vira dívida.',
  'Credit the merchant with the debit that did not happen.': 'Credita ao lojista o débito que não aconteceu.',
  'Keep the merchant’s balance; book the difference as a loss or gain.':
    'Mantém o saldo do lojista; lança a diferença como perda ou ganho.',
  'The bank’s statement has other values than the books, or than before, for a movement. The books are unchanged.':
    'O extrato do banco tem, para um movimento, outros valores que a escrituração, ou que antes. A escrituração não mudou.',
  'Book the positive difference (bank minus books) and credit it to the merchant.':
    'Lança a diferença positiva (banco menos escrituração) e a credita ao lojista.',
  'Book the negative difference at the merchant’s expense; a shortfall of the balance becomes a debt.':
    'Lança a diferença negativa por conta do lojista; o que faltar no saldo vira dívida.',
  'Book the difference as a gain or loss.': 'Lança a diferença como ganho ou perda.',
  'Close it as explained, if no difference is left. No money is booked.':
    'Encerra como explicado, se não resta diferença. Nenhum dinheiro é lançado.',
  'The bank’s statement has an unreadable item. The other items are read, and its window is read again every hour. Nothing was booked.':
    'O extrato do banco tem um item ilegível. Os outros são lidos, e o período dele é lido de novo a cada hora. Nada foi lançado.',
  'Close it as explained. No money is booked.': 'Encerra como explicado. Nenhum dinheiro é lançado.',
  'An event of the bank was set aside: it names nothing known, contradicts itself or the bank, or cannot be true. It was not applied.':
    'Um evento do banco foi separado: não nomeia nada conhecido, contradiz a si ou ao banco, ou não pode ser verdade. Não foi aplicado.',
  'Apply the event to the operation that you name. If the bank supports queries, it is queried first, and only confirmed money is booked.':
    'Aplica o evento à operação que você informar. Se o banco oferece consultas, ele é consultado antes, e só dinheiro confirmado é lançado.',
  'Match and apply the event again, unchanged.': 'Procura a operação e aplica o evento de novo, sem mudança.',
  'Close it without applying the event, which is kept.': 'Encerra sem aplicar o evento, que fica guardado.',
  'The verification of the ledger found a fault. Nothing was booked.':
    'A verificação da razão encontrou uma falha. Nada foi lançado.',
  'The close of a day differs from the bank’s balance, and no open case explains it. Nothing was booked.':
    'O fechamento de um dia difere do saldo do banco, e nenhum caso aberto explica. Nada foi lançado.',
  'An operator requested an adjustment of the balance that needs a second person. Nothing was booked.':
    'Uma pessoa pediu um ajuste de saldo que precisa de uma segunda pessoa. Nada foi lançado.',
  'Book the adjustment: the money came in and is available.': 'Lança o ajuste: o dinheiro entrou e está disponível.',
  'Book the adjustment: the money left the available balance.': 'Lança o ajuste: o dinheiro saiu do saldo disponível.',
  'Close it without an adjustment.': 'Encerra sem ajuste.',
  'An operator requested a refund of a paid charge that needs a second person. Nothing was reserved.':
    'Uma pessoa pediu a devolução de uma cobrança paga, que precisa de uma segunda pessoa. Nada foi reservado.',
  'Order the refund as requested: the amount is reserved and sent to the payer.':
    'Ordena a devolução como foi pedida: o valor é reservado e enviado ao pagador.',
  'Close it without a refund.': 'Encerra sem devolução.',
  'a charge was paid': 'uma cobrança foi paga',
  'a credit repaid a debt of the merchant': 'um crédito pagou uma dívida do lojista',
  'a payout was accepted': 'um pagamento foi aceito',
  'the bank confirmed the payout': 'o banco confirmou o pagamento',
  'the payout failed or was never sent': 'o pagamento falhou ou nunca foi enviado',
  'a payout was returned, whole or in part': 'um pagamento foi devolvido, todo ou em parte',
  'a refund was accepted': 'uma devolução foi aceita',
  'the bank confirmed the refund': 'o banco confirmou a devolução',
  'the refund failed': 'a devolução falhou',
  'money left after the release of its reservation; the available part is held again':
    'saiu dinheiro depois de a reserva ser liberada; a parte disponível é retida de novo',
  'a debit that cannot be attributed yet': 'um débito que ainda não pode ser atribuído',
  'a credit that cannot be attributed yet': 'um crédito que ainda não pode ser atribuído',
  'a payment in suspense was returned': 'um pagamento em conta transitória foi devolvido',
  'an operator attributed a payment in suspense to another operation':
    'uma pessoa atribuiu um pagamento em conta transitória a outra operação',
  'an operator credited the merchant with a payment in suspense':
    'uma pessoa creditou ao lojista um pagamento em conta transitória',
  'an operator attributed a payment in suspense to this charge':
    'uma pessoa atribuiu um pagamento em conta transitória a esta cobrança',
  'an operator credited the merchant with a payout’s return in suspense':
    'uma pessoa creditou ao lojista a devolução de um pagamento em conta transitória',
  'an operator confirmed a payout from suspense; a shortfall becomes a debt':
    'uma pessoa confirmou um pagamento da conta transitória; o que faltar vira dívida',
  'an operator confirmed a refund from suspense; a shortfall becomes a debt':
    'uma pessoa confirmou uma devolução da conta transitória; o que faltar vira dívida',
  'an operator wrote off an unclaimed credit as a gain': 'uma pessoa baixou um crédito não reclamado como ganho',
  'an operator wrote off a debit in suspense as a loss; its hold is released':
    'uma pessoa baixou um débito em conta transitória como perda; a retenção dele é liberada',
  'an operator debited the merchant with a return of the bank’s own in suspense, less what of its payment is in suspense or was booked as a gain':
    'uma pessoa debitou do lojista uma devolução do próprio banco em conta transitória, menos o que do pagamento está em conta transitória ou foi lançado como ganho',
  'a return by the bank itself (MED, bank return)': 'uma devolução pelo próprio banco (MED, devolução bancária)',
  'a return that may be a refund of ours; the available part is held':
    'um retorno que pode ser uma devolução nossa; a parte disponível é retida',
  'the return was attributed: its hold and suspense end, and it is booked':
    'o retorno foi atribuído: a retenção e a transitória terminam, e ele é lançado',
  'the bank deducted a tariff': 'o banco descontou uma tarifa',
  'an operator booked incoming money: opening balance or top-up':
    'uma pessoa lançou dinheiro que entrou: saldo inicial ou aporte',
  'an operator booked a withdrawal at the bank': 'uma pessoa lançou um saque no banco',
  'an unexplained credit on the bank’s statement, held in suspense':
    'um crédito sem explicação no extrato do banco, retido em conta transitória',
  'a held credit was explained; it is booked as what it is': 'um crédito retido foi explicado; é lançado como o que é',
  'an operator credited the merchant with an unexplained credit':
    'uma pessoa creditou ao lojista um crédito sem explicação',
  'the merchant bears an unexplained debit; a shortfall becomes a debt':
    'o lojista assume um débito sem explicação; o que faltar vira dívida',
  'an unexplained debit was written off as a loss': 'um débito sem explicação foi baixado como perda',
  'the merchant bears a negative difference, bank minus books; a shortfall becomes a debt':
    'o lojista assume uma diferença negativa, banco menos escrituração; o que faltar vira dívida',
  'a positive difference, bank minus books, is a gain': 'uma diferença positiva, banco menos escrituração, é ganho',
  'a negative difference, bank minus books, is a loss': 'uma diferença negativa, banco menos escrituração, é perda',
  'an operator reversed a credit that the bank’s statement lacks; a shortfall becomes a debt':
    'uma pessoa estornou um crédito que o extrato do banco não tem; o que faltar vira dívida',
  'another case that causes the doubt is open': 'outro caso que causa a dúvida está aberto',
  'the case’s debit is still in suspense': 'o débito do caso ainda está em conta transitória',
  'the end-to-end id, or return id, named by the operator is already booked':
    'o ID E2E, ou de devolução, informado já está lançado',
  'no further answer of the bank can settle the case': 'nenhuma resposta do banco pode mais resolver o caso',
  'the case’s credit is still in suspense': 'o crédito do caso ainda está em conta transitória',
  'a payment was credited before, even if the credit was reversed':
    'um pagamento já foi creditado antes, mesmo que o crédito tenha sido estornado',
  'an operator ordered its return to the payer, and the bank has not reported the outcome':
    'uma pessoa ordenou a devolução ao pagador, e o banco ainda não informou o resultado',
  'no part of the payment was accepted, returned, written off or attributed, and no return of it is in flight':
    'nenhuma parte do pagamento foi aceita, devolvida, baixada ou atribuída, e nenhuma devolução dele está em andamento',
  'a payment of the charge was credited to the merchant': 'um pagamento da cobrança foi creditado ao lojista',
  '`expirationDate` has passed': 'o prazo da cobrança (`expirationDate`) passou',
  'the case was opened because the bank gave no answer within 15 minutes':
    'o caso foi aberto porque o banco não respondeu em 15 minutos',
  'money debited for it is in suspense; that case decides':
    'há dinheiro debitado por ela em conta transitória; decide-se no caso desse débito',
  'the payout was confirmed, and the merchant was notified': 'o pagamento foi confirmado e notificado ao lojista',
  'its reservation was released before': 'a reserva já foi liberada antes',
  'a call is in flight, or the last attempt that may have been sent is younger than 5 minutes, and the bank has not reported that it has the order':
    'uma chamada ao banco está em andamento, ou a última tentativa que pode ter saído tem menos de 5 minutos, e o banco não informou que tem a ordem',
  'the bank’s statement shows an unbooked debit for it':
    'o extrato do banco mostra um débito dela que não está lançado',
  'the sum of all returns exceeds the payout; or the return does not name the confirming payment, while another payment that was written off is not fully returned':
    'a soma dos retornos passa do valor do pagamento; ou o retorno não identifica o pagamento confirmado, e outro pagamento que foi baixado ainda não voltou por inteiro',
  'it returns money in suspense, and that suspense does not cover the amount that left':
    'ela devolve dinheiro em conta transitória, e o que há ali não cobre o valor que saiu',
  'an amount of it is being returned to the payer': 'uma parte dele está sendo devolvida ao pagador',
  'it is not a payment, but a returned payout': 'não é um recebimento, e sim um pagamento que voltou',
}
