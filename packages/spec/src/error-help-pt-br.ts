import type { ErrorHelp } from './error-help.ts'
import type { ErrorCode } from './errors.ts'

/** {@link ErrorHelp} of every error in Portuguese, code in backquotes the same. @source rules#reference.3 */
export const errorHelpPtBr: Readonly<Record<ErrorCode, ErrorHelp>> = {
  malformed_json: {
    cause:
      'O corpo está cortado, não é JSON ou não é UTF-8, repete uma chave no mesmo objeto ou tem níveis demais de aninhamento.',
    cure: 'Envie o que uma biblioteca de JSON escreveu, em UTF-8. `message` diz o que foi encontrado.',
  },
  content_type_required: {
    cause:
      'A requisição tem corpo e não tem `Content-Type`, ou tem um que não é JSON. Alguns clientes enviam um formulário por padrão.',
    cure: 'Envie `Content-Type: application/json`.',
  },
  validation_error: {
    cause:
      'Um campo ou parâmetro falta, é desconhecido, está repetido, é do tipo errado ou está fora dos limites. Nada é convertido: `"10"` não é um número. Onde um campo do corpo pode ser omitido, `null` é o mesmo que omitir.',
    cure: 'Leia `errors`: cada item traz um campo e a regra que ele viola, e o nome conhecido mais próximo quando o campo é desconhecido. Corrija a requisição e envie de novo.',
  },
  invalid_pix_code: {
    cause: '`pixCode` não é um BR Code, ou um caractere se perdeu ou mudou: o código de verificação (CRC) não confere.',
    cure: 'Use o texto inteiro do QR Code, tal como foi copiado, sem quebras de linha. `errors` diz o que há de errado com ele.',
  },
  unauthorized: {
    cause:
      'Não há cabeçalho `Authorization: Bearer …`, ou o token é desconhecido, está desativado, expirou, veio de um endereço para o qual não vale, é do outro ambiente (`pix_test_`, `pix_live_`) ou do outro tipo: uma chave de API não abre o que pede o token administrativo, nem o contrário. Nos eventos do banco: `X-Partner-Signature` não é a assinatura destes bytes com o segredo compartilhado, ou `X-Partner-Timestamp` difere em mais de 300 s.',
    cure: 'Envie exatamente um cabeçalho `Authorization`, com o token que a chamada pede. Crie uma chave com `POST /api-key/generate`. O operador encontra no log por que uma chave sua foi recusada. O banco assina os bytes como os envia, cada vez com a hora do envio.',
  },
  insufficient_scope: {
    cause:
      'A chave de API é válida, mas não para isto: cada chamada precisa de um dos escopos `read`, `charge`, `payout`, `refund`, `webhook`, e esta chave foi criada sem ele. O cabeçalho `WWW-Authenticate` diz qual é o escopo.',
    cure: 'Use uma chave que tenha o escopo, ou peça uma. Uma chave nunca ganha mais escopos do que tinha ao ser criada.',
  },
  insufficient_role: {
    cause:
      'O operador é conhecido, mas o papel dele não basta: um `viewer` lê, um `operator` também aciona a chave dos pagamentos e ajusta o saldo, um `approver` lê e aprova, um `admin` faz o que um `operator` faz e cria chaves e operadores.',
    cure: 'Peça a quem tem o papel. Um admin cria um operador com outro papel; o papel de um que já existe nunca muda.',
  },
  not_found: {
    cause:
      'O caminho não existe, ou nada tem esse id: foi enviado um id de outro tipo, como `transactionId`, ou de outro ambiente.',
    cure: 'Compare o caminho com a referência. Use o `id` que o 201 informou; pela sua própria referência, uma lista o encontra: `?external_id=…`.',
  },
  method_not_allowed: {
    cause: 'O caminho existe, mas não com este método.',
    cure: 'Use um dos métodos que o cabeçalho `Allow` informa.',
  },
  duplicate_external_id: {
    cause:
      'Uma operação deste tipo já tem este `externalId`. Quase sempre é a nova tentativa de uma requisição cuja resposta se perdeu.',
    cure: 'Não envie com outro `externalId`: seria uma segunda operação. `existing` informa o `id` e o `status` da primeira; se `samePayload` é verdadeiro, a requisição é a mesma, então continue com esse id.',
  },
  request_in_progress: {
    cause: 'Uma requisição com este `Idempotency-Key` ainda não foi respondida.',
    cure: 'Espere um segundo e envie a mesma requisição com a mesma chave.',
  },
  duplicate_webhook: {
    cause: 'Já existe um endpoint com este endereço e estes eventos.',
    cure: 'Não há nada a fazer. `GET /webhook` mostra o endpoint.',
  },
  delivery_not_resendable: {
    cause:
      'O endpoint desta entrega foi removido (`endpoint_removed`), ou o prazo de guarda da notificação terminou (`erased`). O motivo está em `errors`.',
    cure: 'Consulte a operação: ela mostra o estado atual.',
  },
  pix_code_in_use: {
    cause: 'Este código Pix pede um único pagamento, e outro pagamento dele está em andamento ou concluído.',
    cure: 'Leia o pagamento que `existing` informa. Para pagar de novo, peça um novo código ao recebedor.',
  },
  not_possible_in_state: {
    cause:
      'A cobrança está paga, expirada, com falha ou em dúvida: não pode ser cancelada nem tem QR code; `existing` informa o status. Ou o pagamento ou a devolução já foi enviado ou terminou, ou o caso está encerrado ou não oferece esta decisão agora.',
    cure: 'Leia de novo a operação ou o caso. O dinheiro de uma cobrança paga volta por uma devolução.',
  },
  approver_not_independent: {
    cause:
      'Você criou a chave de API que pediu este pagamento, propôs esta decisão, ou já a aprovou, com este token ou com outro em seu nome; ou você criou uma dessas pessoas como operador, ou uma delas criou você. É preciso outra pessoa.',
    cure: 'Peça a outro operador com o papel `approver` que o aprove.',
  },
  api_key_deactivated: {
    cause:
      'A chave de API que pediu este pagamento foi desativada enquanto ele esperava: pode ter sido roubada. Ou, no sandbox, foi desativado o operador que o pediu no console.',
    cure: 'Recuse o pagamento. Se ele é mesmo desejado, peça-o de novo com uma chave ativa.',
  },
  case_changed: {
    cause:
      'Algo novo ficou conhecido sobre o caso ou sua operação depois que você o leu, ou outra pessoa já o decidiu.',
    cure: 'Leia o caso de novo, decida de novo e envie o `version` que você viu.',
  },
  proposal_void: {
    cause:
      'A proposta já foi aprovada ou retirada, o caso mudou depois que ela foi feita, ou quem a fez foi desativado.',
    cure: 'Leia o caso de novo; se a decisão ainda for certa, proponha-a de novo.',
  },
  version_conflict: {
    cause: 'Outra pessoa alterou o registro depois que você o leu.',
    cure: 'Leia de novo, decida de novo e envie o `version` que você viu.',
  },
  next_signing_key_exists: {
    cause: 'Já foi criada uma próxima chave de assinatura, que não foi promovida nem aposentada.',
    cure: 'Leia `GET /operator/signing-keys` e promova a que está em `next`; ou aposente essa e crie outra.',
  },
  signing_key_state_conflict: {
    cause:
      'Só a chave em `next` pode ser promovida, e só a que está em `next` ou em `previous` pode ser aposentada. A que está em `current` sai quando a próxima é promovida.',
    cure: 'Leia `GET /operator/signing-keys` e indique uma chave que esteja num desses estados.',
  },
  signing_key_too_soon: {
    cause:
      'Os receptores guardam as chaves por cinco minutos. Quem ainda não conhece a próxima recusaria o que ela assina, e o que a anterior assinou pode ainda estar a caminho.',
    cure: 'Espere até o `mayMoveAt` da chave. Se ela vazou, envie `force`: as entregas recusadas são tentadas de novo.',
  },
  too_many_webhook_secrets: {
    cause: 'O segredo deste endpoint foi trocado três vezes, e todos os anteriores ainda assinam ao lado do mais novo.',
    cure: 'Espere até que um expire: `GET /webhook/{webhook_id}` diz quando. Se um vazou, envie `overlapSeconds` 0, e nenhum anterior assina mais.',
  },
  last_admin: {
    cause: 'Sem um admin com nome, ninguém poderia criar chaves e operadores, a não ser com o token da instalação.',
    cure: 'Crie outro admin antes. Se os tokens de todos os admins se perderam, o guia do operador diz como entrar de novo.',
  },
  events_erased: {
    cause:
      'Parte dos eventos que vêm depois do cursor foi apagada: eles foram guardados pelo tempo que o operador configurou.',
    cure: 'Continue a leitura com `readFrom.cursor`. O que aconteceu com as operações nesse intervalo está nas listas, por data. Quem lê mais de uma vez a cada 90 dias nunca vê este erro.',
  },
  body_too_large: {
    cause: 'O corpo tem mais de 64 KiB.',
    cure: 'Envie menos. Nenhuma requisição válida chega perto desse tamanho.',
  },
  value_not_positive: {
    cause: 'O valor é zero ou negativo.',
    cure: 'Envie reais acima de zero, com no máximo duas casas decimais: `150.00`.',
  },
  value_too_large: {
    cause: 'O valor está acima do teto desta instalação. Muitas vezes foram enviados centavos em vez de reais.',
    cure: 'Envie reais: `150.00` e não `15000`. Se o valor está certo, o operador pode aumentar `PIXGATE_MAX_VALUE_CENTS`.',
  },
  invalid_document: {
    cause: 'Os dígitos verificadores do CPF ou do CNPJ estão errados.',
    cure: 'Peça o documento de novo. Ele pode vir com ou sem pontuação.',
  },
  idempotency_key_reused: {
    cause: 'Este `Idempotency-Key` foi enviado nas últimas 24 horas com outro corpo.',
    cure: 'Use uma chave nova para uma requisição nova. Em uma nova tentativa, envie os mesmos bytes.',
  },
  pix_key_type_mismatch: {
    cause: '`pixKey` não tem a forma do seu `pixKeyType`: por exemplo, um telefone com o tipo `cpf`.',
    cure: 'Corrija um ou outro. Um telefone leva o código de área; um e-mail não tem espaços.',
  },
  pix_code_not_payable: {
    cause:
      'O banco diz que este código não pode ser pago: expirou, já foi pago, foi cancelado, é de um tipo não aceito ou é de um recebedor diferente de `recipient.document`.',
    cure: 'Peça um novo código ao recebedor. `errors` diz o que o banco informou.',
  },
  pix_code_value_mismatch: {
    cause: 'O código pede um valor e `value` é outro, ou o código não traz valor e nenhum `value` foi enviado.',
    cure: 'Omita `value` quando o código traz o valor; envie-o quando o código não traz.',
  },
  insufficient_balance: {
    cause:
      'O valor e a tarifa passam do que está disponível agora. O que está reservado para outras operações não está disponível.',
    cure: 'Leia `GET /organization/balance` e espere entrar dinheiro ou envie menos. Nada foi reservado, portanto o mesmo `externalId` pode ser usado de novo.',
  },
  receivable_outstanding: {
    cause: 'O banco tomou de volta um pagamento que já tinha sido gasto; por isso sua empresa está devendo.',
    cure: 'Espere até que os recebimentos quitem o `receivableCents` do saldo, ou peça ao operador que registre um aporte.',
  },
  limit_exceeded: {
    cause:
      'O pagamento ou a devolução passaria de um limite: por pagamento, por hora, por dia, por noite ou para uma chave Pix que ainda não foi paga. O limite é desta chave de API ou do serviço inteiro.',
    cure: '`limit` diz qual é, quanto dele está usado e, em `freesAt`, quando este valor caberia se nada mais fosse enviado. Envie menos, espere até lá ou peça ao operador que o aumente. Nada foi gravado: o mesmo `externalId` pode ser usado de novo.',
  },
  refund_value_not_positive: {
    cause: '`refundValue` é zero ou negativo.',
    cure: 'Envie reais acima de zero, com no máximo duas casas decimais: `50.00`.',
  },
  refund_exceeds_available: {
    cause: 'As devoluções deste pagamento, incluídas as pendentes, passariam do valor pago.',
    cure: 'Leia o cash-in: `refundableCents` é o que ainda pode ser devolvido. Atenção: `refundValue` é em reais.',
  },
  refund_deadline_exceeded: {
    cause: 'O pagamento foi recebido há mais de 89 dias; depois disso o Pix não aceita devolução.',
    cure: 'Pague o cliente com um cash-out. `refundDeadline` do cash-in informa até quando.',
  },
  cash_in_not_paid: {
    cause: 'O cash-in não está `PAID`; não há o que devolver.',
    cure: 'Leia o cash-in. Envie a devolução quando ele estiver pago.',
  },
  cash_in_not_found: {
    cause:
      'O id do caminho não é de nenhum cash-in. Muitas vezes é o id de uma devolução ou o `transactionId` do banco.',
    cure: 'Envie o `id` que a criação da cobrança informou.',
  },
  cursor_unknown: {
    cause:
      'O cursor foi criado por outra instalação, ou o banco de dados foi restaurado de um backup: onde o cursor foi criado não há evento, ou há outro.',
    cure: 'Leia o feed a partir de `readFrom.cursor` e ignore todo evento cujo `id` você já tem: ele é o `webhook-id`.',
  },
  not_supported_by_bank: {
    cause: 'O banco por trás deste serviço não oferece este tipo de operação.',
    cure: 'Não tente de novo. O operador sabe o que o banco configurado faz.',
  },
  partner_refused: {
    cause: 'O banco se recusou a criar a cobrança, com certeza.',
    cure: 'Leia o cash-in que `existing` informa: `failureCode` e `failureReason` dizem por quê. Uma nova cobrança precisa de um novo `externalId`.',
  },
  misdirected_request: {
    cause: 'O console foi acessado com um `Host` que não é de loopback nem está em `PIXGATE_CONSOLE_HOSTS`.',
    cure: 'Abra-o em `localhost`, ou inclua o nome do host em `PIXGATE_CONSOLE_HOSTS`.',
  },
  too_many_webhooks: {
    cause: 'Há 20 endpoints registrados, que é o máximo.',
    cure: 'Veja a lista com `GET /webhook` e remova um que ninguém usa.',
  },
  webhook_url_not_allowed: {
    cause:
      'O endereço não é https, não é público, o nome não pode ser resolvido, ou ele tem senha, fragmento ou uma porta abaixo de 1024 que não é a 443. Uma chave de API não registra endereços em redes privadas.',
    cure: 'Registre um endereço `https://` público. `errors` diz o que há de errado com este. Para um receptor na sua própria rede, veja `POST /operator/webhooks`.',
  },
  rate_limited: {
    cause:
      'Esta chave de API enviou mais requisições do que pode em um minuto; ou este endereço enviou requisições demais com credenciais erradas; ou estas credenciais já mantêm 500 conexões; ou dez requisições desta chave de API já esperam por eventos.',
    cure: 'Espere quantos segundos `Retry-After` disser. Prefira notificações a consultas repetidas, e reutilize conexões.',
  },
  internal_error: {
    cause:
      'Aconteceu no serviço algo que ninguém previu. Uma requisição que altera algo pode ter sido executada ou não.',
    cure: 'Com um `externalId` ou uma `Idempotency-Key`, envie a mesma requisição de novo: sob o mesmo valor ela é executada uma só vez. Uma devolução ou um ajuste enviado sem nenhum dos dois seria executado uma segunda vez: verifique antes se já existe. Se o erro persistir, passe o `correlationId` ao operador: o log registra a causa com ele.',
  },
  partner_unavailable: {
    cause: 'O banco não responde, e sem ele esta requisição não pode ser decidida. Nada foi alterado.',
    cure: 'Espere `Retry-After` segundos e envie a mesma requisição de novo.',
  },
  cash_out_suspended: {
    cause: 'O operador, ou uma proteção do serviço, suspendeu os pagamentos e as devoluções. Nada foi alterado.',
    cure: 'Espere até que sejam liberados de novo. O que foi enviado antes segue seu curso.',
  },
  overloaded: {
    cause:
      'O serviço não pode atender à requisição agora: a fila está cheia, o banco de dados não responde, a requisição esperou demais ou, em `POST /webhook`, nenhum servidor de nomes informa se o nome do endpoint existe. Ela não foi executada.',
    cure: 'Espere `Retry-After` segundos e envie a mesma requisição de novo, com o mesmo `externalId` onde houver um.',
  },
}
