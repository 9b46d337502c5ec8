import type { ErrorCode } from './errors.ts'

/** Cause and cure of an error: whole sentences, with code in backquotes. */
export interface ErrorHelp {
  readonly cause: string
  readonly cure: string
}

/**
 * Cause and cure of every error; a missing code is a type error. The service's errors page and the document are
 * generated from it.
 * @source rules#reference.3
 */
export const errorHelp: Readonly<Record<ErrorCode, ErrorHelp>> = {
  malformed_json: {
    cause: 'The body is cut off, is no JSON or no UTF-8, names a key twice in one object, or is nested too deeply.',
    cure: 'Send what a JSON library wrote, as UTF-8. `message` says what was found.',
  },
  content_type_required: {
    cause:
      'The request has a body and no `Content-Type`, or another one than JSON. Some clients send a form by default.',
    cure: 'Send `Content-Type: application/json`.',
  },
  validation_error: {
    cause:
      'A field or parameter is missing, unknown, repeated, of the wrong type or out of its bounds. Nothing is converted: `"10"` is no number. Where a field of a body may be left out, `null` is the same.',
    cure: 'Read `errors`: each item names a field and the rule that it breaks, and the nearest known name where one is unknown. Correct the request and send it again.',
  },
  invalid_pix_code: {
    cause: '`pixCode` is no BR Code, or a character of it was lost or changed: its checksum does not match.',
    cure: 'Take the whole text of the QR code as it was copied, without line breaks. `errors` says what is wrong with it.',
  },
  unauthorized: {
    cause:
      'There is no `Authorization: Bearer …` header, or its token is unknown, deactivated, expired, used from an address that it is not for, of the other environment (`pix_test_`, `pix_live_`) or of the other kind: an API key does not open what asks for the administrative token, nor the reverse. Of the bank’s events: `X-Partner-Signature` is not the one of these bytes under the shared secret, or `X-Partner-Timestamp` is more than 300 s off.',
    cure: 'Send exactly one `Authorization` header with the token that the call asks for. Make a key with `POST /api-key/generate`. The operator finds in the log why a key of theirs was refused. The bank signs the bytes as it sends them, each time with the time of sending.',
  },
  insufficient_scope: {
    cause:
      'The API key is good, but not for this: each call needs one of the scopes `read`, `charge`, `payout`, `refund`, `webhook`, and this key was made without it. The header `WWW-Authenticate` names the scope.',
    cure: 'Use a key that has the scope, or have one made. A key never gets more scopes than it was made with.',
  },
  insufficient_role: {
    cause:
      'The operator is known, and their role is not enough: a `viewer` reads, an `operator` also sets the switch and adjusts the balance, an `approver` reads and approves, an `admin` does what an `operator` does and makes keys and operators.',
    cure: 'Ask somebody who has the role. An admin makes an operator with another role; the role of one that exists never changes.',
  },
  not_found: {
    cause:
      'The path does not exist, or nothing has this id: another kind of id was sent, such as `transactionId`, or one of another environment.',
    cure: 'Compare the path with the reference. Use the `id` of the 201; by your own reference, a list finds it: `?external_id=…`.',
  },
  method_not_allowed: {
    cause: 'The path exists, but not with this method.',
    cure: 'Use one of the methods that the `Allow` header names.',
  },
  duplicate_external_id: {
    cause:
      'An operation of this type already has this `externalId`. Most often this is the retry of a request whose answer was lost.',
    cure: 'Do not send it under another `externalId`: that would be a second operation. `existing` has the `id` and `status` of the first one; where `samePayload` is true it is the same request, so go on with that id.',
  },
  request_in_progress: {
    cause: 'A request with this `Idempotency-Key` has not been answered yet.',
    cure: 'Wait a second, and send the same request with the same key again.',
  },
  duplicate_webhook: {
    cause: 'An endpoint with this address and these events is already registered.',
    cure: 'Nothing is left to do. `GET /webhook` lists it.',
  },
  delivery_not_resendable: {
    cause:
      'The endpoint of the delivery was removed (`endpoint_removed`), or the time for which its notification is kept is over (`erased`). `errors` has the reason.',
    cure: 'Read the state of the operation by its id.',
  },
  pix_code_in_use: {
    cause: 'This Pix code asks to be paid once, and another payout of it is under way or done.',
    cure: 'Read the payout that `existing` names. Ask the recipient for a new code to pay again.',
  },
  not_possible_in_state: {
    cause:
      'The charge is paid, expired, failed or in doubt, so that it is not cancelled and has no QR code; `existing` has its status. Or the payout or refund was sent or has ended, or the case is closed or does not offer this decision now.',
    cure: 'Read the operation or the case again. Money of a paid charge goes back by a refund.',
  },
  approver_not_independent: {
    cause:
      'You created the API key that requested this payout, proposed this decision, or approved it already, with this token or another one under your name; or you created one of these people as an operator, or one of them created you.',
    cure: 'Have another operator with the role `approver` approve it.',
  },
  api_key_deactivated: {
    cause:
      'The API key that asked for this payout was deactivated while it waited: it may have been stolen. Or, in the sandbox, the operator who ordered it at the console was.',
    cure: 'Refuse the payout. If it is wanted, have it asked for again with an active key.',
  },
  case_changed: {
    cause: 'Something became known of the case or its operation after you had read it, or somebody else decided it.',
    cure: 'Read the case again, decide anew, and send the `version` that you saw.',
  },
  proposal_void: {
    cause:
      'The proposal was approved or refused before, the case changed after it was made, or its proposer was deactivated.',
    cure: 'Read the case again; if the decision is still right, propose it anew.',
  },
  version_conflict: {
    cause: 'Somebody else changed it after you had read it.',
    cure: 'Read it again, decide anew, and send the `version` that you saw.',
  },
  next_signing_key_exists: {
    cause: 'A next signing key was made before, and neither promoted nor retired.',
    cure: 'Read `GET /operator/signing-keys`, and promote the one that is `next`; or retire it, and make another.',
  },
  signing_key_state_conflict: {
    cause:
      'Only the `next` key can be promoted, and only the `next` or the `previous` one retired. The `current` key goes when the next one is promoted.',
    cure: 'Read `GET /operator/signing-keys` and name a key that is in such a state.',
  },
  signing_key_too_soon: {
    cause:
      'Receivers cache keys for five minutes. One that does not know the next key yet would refuse what it signs, and what the previous one signed may still be on its way.',
    cure: 'Wait until `mayMoveAt` of the key. Where it has leaked, send `force`: refused deliveries are tried again.',
  },
  too_many_webhook_secrets: {
    cause: 'The secret of this endpoint was rotated three times, and all earlier ones still sign beside the newest.',
    cure: 'Wait until one expires: `GET /webhook/{webhook_id}` shows when. If one has leaked, send `overlapSeconds` 0: all earlier secrets stop signing.',
  },
  last_admin: {
    cause:
      'This is the last named admin. Without one, only the administrative token of the installation could create keys and operators.',
    cure: 'Make another admin first. Where every admin’s token is lost, the operator’s guide says how to get in again.',
  },
  events_erased: {
    cause:
      'Of the events that follow the cursor some are erased: they were kept for as long as the operator configured.',
    cure: 'Read on with `readFrom.cursor`. What became of operations in between is in the lists, by date. A reader that comes more often than once in 90 days never sees this.',
  },
  body_too_large: {
    cause: 'The body has more than 64 KiB.',
    cure: 'Send less. No valid request comes near this size.',
  },
  value_not_positive: {
    cause: 'The value is zero or negative.',
    cure: 'Send reais above zero, with at most two decimals: `150.00`.',
  },
  value_too_large: {
    cause: 'The value is above the ceiling of this installation. Often centavos were sent in place of reais.',
    cure: 'Send reais: `150.00` and not `15000`. If the value is right, the operator can raise `PIXGATE_MAX_VALUE_CENTS`.',
  },
  invalid_document: {
    cause: 'The check digits of the CPF or CNPJ are wrong.',
    cure: 'Ask for the document again. It may have its punctuation or none.',
  },
  idempotency_key_reused: {
    cause: 'This `Idempotency-Key` was sent within the last 24 hours with another body.',
    cure: 'Use a new key for a new request. For a retry send the same bytes.',
  },
  pix_key_type_mismatch: {
    cause: '`pixKey` does not have the form of its `pixKeyType`: for example a phone number with the type `cpf`.',
    cure: 'Correct the one or the other. A phone number has its area code; an e-mail address has no spaces.',
  },
  pix_code_not_payable: {
    cause:
      'The bank says that this code cannot be paid: it is expired, paid, cancelled, of a kind that is not supported, or of another recipient than `recipient.document`.',
    cure: 'Ask the recipient for a new code. `errors` says what the bank said.',
  },
  pix_code_value_mismatch: {
    cause:
      'The code asks for one amount and `value` is another one, or the code asks for none and no `value` was sent.',
    cure: 'Leave `value` out where the code names the amount; send it where the code names none.',
  },
  insufficient_balance: {
    cause:
      'The value and its fee are more than what is available now. What is reserved for other operations is not available.',
    cure: 'Read `GET /organization/balance`, and wait for money to come in or send less. Nothing was reserved, so the same `externalId` may be used again.',
  },
  receivable_outstanding: {
    cause: 'A payment that had been spent was taken back by the bank, so that the merchant owes money.',
    cure: 'Wait until incoming payments have repaid `receivableCents` of the balance, or have the operator book a top-up.',
  },
  limit_exceeded: {
    cause:
      'The payout or refund would exceed a limit: of one payment, an hour, a day, a night, or a Pix key that was not paid before. The limit is of this API key or of the whole service.',
    cure: '`limit` says which it is, what of it is used, and in `freesAt` when this would fit, were nothing else sent. Send less, wait until then, or ask the operator to raise it. Nothing was stored, so the same `externalId` may be used again.',
  },
  refund_value_not_positive: {
    cause: '`refundValue` is zero or negative.',
    cure: 'Send reais above zero, with at most two decimals: `50.00`.',
  },
  refund_exceeds_available: {
    cause: 'The refunds of this payment, pending ones included, would be more than the payment.',
    cure: 'Read the cash-in: `refundableCents` is what may still be refunded. Mind that `refundValue` is in reais.',
  },
  refund_deadline_exceeded: {
    cause: 'The payment was received more than 89 days ago; Pix takes no return after that.',
    cure: 'Pay the customer with a cash-out. `refundDeadline` of the cash-in shows until when.',
  },
  cash_in_not_paid: {
    cause: 'The cash-in is not `PAID`, so that there is nothing to give back.',
    cure: 'Read the cash-in. Send the refund once it is paid.',
  },
  cash_in_not_found: {
    cause: 'The id of the path is of no cash-in. Often it is the id of a refund or the `transactionId` of the bank.',
    cure: 'Send the `id` from the answer that created the charge.',
  },
  cursor_unknown: {
    cause:
      'The cursor was made by another installation, or the database was restored from a backup: where the cursor was made, there is no event or another one.',
    cure: 'Read the feed from `readFrom.cursor` on, and overlook every event whose `id` you have already: it is the `webhook-id`.',
  },
  not_supported_by_bank: {
    cause: 'The bank behind this service does not offer this kind of operation.',
    cure: 'Do not retry. The operator knows what the configured bank can do.',
  },
  partner_refused: {
    cause: 'The bank refused to make the charge, for certain.',
    cure: 'Read the cash-in that `existing` names: `failureCode` and `failureReason` say why. A new charge needs a new `externalId`.',
  },
  misdirected_request: {
    cause: 'The console was asked for under a `Host` that is neither loopback nor listed in `PIXGATE_CONSOLE_HOSTS`.',
    cure: 'Open it under `localhost`, or add the host name to `PIXGATE_CONSOLE_HOSTS`.',
  },
  too_many_webhooks: {
    cause: '20 endpoints are registered, which is the maximum.',
    cure: 'List them with `GET /webhook` and remove one that is not used.',
  },
  webhook_url_not_allowed: {
    cause:
      'The address is not https, is not public, its name cannot be resolved, or it has a password, a fragment or a port below 1024 that is not 443. An API key registers no address in a private network.',
    cure: 'Register a public `https://` address. `errors` says what is wrong with this one. For a receiver in your own network see `POST /operator/webhooks`.',
  },
  rate_limited: {
    cause:
      'This API key sent more requests than it may in a minute; or this address sent too many requests with wrong credentials; or these credentials hold 500 connections already; or ten requests of this API key wait for events already.',
    cure: 'Wait as many seconds as `Retry-After` says. Prefer notifications to polling, and use connections again.',
  },
  internal_error: {
    cause: 'An unexpected error in the service. A request that changes something may or may not have been carried out.',
    cure: 'With an `externalId` or an `Idempotency-Key` send the same request again: under the same one it is carried out once. A refund or an adjustment that was sent without either would be carried out a second time: look first whether it is there. If the error stays, give the operator the `correlationId`: the log has the cause under it.',
  },
  partner_unavailable: {
    cause: 'The bank does not answer, and without it this request cannot be decided. Nothing was changed.',
    cure: 'Wait `Retry-After` seconds and send the same request again.',
  },
  cash_out_suspended: {
    cause: 'The operator, or a safeguard of the service, has switched payouts and refunds off. Nothing was changed.',
    cure: 'Wait until they are switched on again. What was sent before takes its course.',
  },
  overloaded: {
    cause:
      'The service cannot take the request now: its queue is full, its database does not answer, the request waited too long, or, for `POST /webhook`, the endpoint’s name could not be resolved. It was not carried out.',
    cure: 'Wait `Retry-After` seconds and send the same request again, with the same `externalId` where it has one.',
  },
}
