/**
 * Every error of the service: stable code → HTTP status → title → exact message. There is no other list.
 * @source rules#http.2
 */
export const errors = {
  malformed_json: { status: 400, title: 'Malformed JSON', message: 'the request body is not valid JSON' },
  content_type_required: {
    status: 400,
    title: 'Content-Type required',
    message: 'a request body needs Content-Type: application/json',
  },
  validation_error: { status: 400, title: 'Invalid request', message: 'the request is not valid' },
  invalid_pix_code: { status: 400, title: 'Invalid Pix code', message: 'pixCode is not a valid BR Code' },
  unauthorized: { status: 401, title: 'Unauthorized', message: 'missing or invalid credentials' },
  insufficient_scope: {
    status: 403,
    title: 'Scope missing',
    message: 'this API key does not have the scope that the call needs',
  },
  insufficient_role: {
    status: 403,
    title: 'Role missing',
    message: 'the role of this operator does not allow the call',
  },
  not_found: { status: 404, title: 'Not found', message: 'resource not found' },
  method_not_allowed: {
    status: 405,
    title: 'Method not allowed',
    message: 'method not allowed for this path',
  },
  duplicate_external_id: {
    status: 409,
    title: 'Duplicate externalId',
    message: 'externalId was already used; see existing for the operation that has it',
  },
  request_in_progress: {
    status: 409,
    title: 'Request in progress',
    message: 'a request with this Idempotency-Key is still in progress',
  },
  duplicate_webhook: {
    status: 409,
    title: 'Duplicate webhook',
    message: 'this url is already registered with the same events',
  },
  delivery_not_resendable: {
    status: 409,
    title: 'Delivery not resendable',
    message: 'this delivery cannot be resent; nothing was changed',
  },
  pix_code_in_use: {
    status: 409,
    title: 'Pix code in use',
    message: 'another payout of this Pix code is open or done',
  },
  not_possible_in_state: {
    status: 409,
    title: 'Not possible in this state',
    message: 'this is not possible in the present state',
  },
  approver_not_independent: {
    status: 403,
    title: 'Approver not independent',
    message:
      'the requester, the creator of the API key that requested it, and an earlier approver cannot approve it, whichever their token; nor can an operator whom one of them created, or who created one of them',
  },
  api_key_deactivated: {
    status: 409,
    title: 'API key deactivated',
    message: 'the API key that asked for this payout was deactivated; refuse it, and have it asked for anew',
  },
  case_changed: {
    status: 409,
    title: 'Case changed',
    message: 'the case changed after it was read; nothing was done. Read it again and send the version that you saw',
  },
  proposal_void: {
    status: 409,
    title: 'Proposal void',
    message: 'the proposal cannot be approved or refused any more',
  },
  version_conflict: {
    status: 409,
    title: 'Changed meanwhile',
    message: 'it was changed meanwhile; read it again and send the version that you saw',
  },
  next_signing_key_exists: {
    status: 409,
    title: 'Next signing key exists',
    message: 'there is a next signing key already; promote it, or retire it first',
  },
  signing_key_state_conflict: {
    status: 409,
    title: 'Not possible for this signing key',
    message: 'the signing key is not in a state from which this is possible',
  },
  signing_key_too_soon: {
    status: 409,
    title: 'Too soon for this signing key',
    message: 'receivers may have cached the earlier keys; wait until mayMoveAt, or send force',
  },
  too_many_webhook_secrets: {
    status: 409,
    title: 'Too many webhook secrets',
    message: 'four secrets of this endpoint sign already; wait until one expires, or send overlapSeconds 0',
  },
  last_admin: {
    status: 409,
    title: 'Last admin',
    message: 'the last active admin cannot be deactivated; make another one first',
  },
  events_erased: {
    status: 410,
    title: 'Events erased',
    message: 'events that follow this cursor were erased, as their time is over; read on from readFrom',
  },
  body_too_large: { status: 413, title: 'Body too large', message: 'the request body exceeds 64 KiB' },
  value_not_positive: { status: 422, title: 'Value not positive', message: 'value must be greater than zero' },
  value_too_large: { status: 422, title: 'Value too large', message: 'value exceeds the maximum allowed' },
  invalid_document: { status: 422, title: 'Invalid document', message: 'document is not a valid CPF or CNPJ' },
  idempotency_key_reused: {
    status: 422,
    title: 'Idempotency-Key reused',
    message: 'this Idempotency-Key was used with another body',
  },
  pix_key_type_mismatch: {
    status: 422,
    title: 'Pix key does not match',
    message: 'pixKey does not match pixKeyType',
  },
  pix_code_not_payable: {
    status: 422,
    title: 'Pix code not payable',
    message: 'this Pix code cannot be paid',
  },
  pix_code_value_mismatch: {
    status: 422,
    title: 'Pix code value mismatch',
    message: 'value does not match the amount of the Pix code',
  },
  insufficient_balance: { status: 422, title: 'Insufficient balance', message: 'insufficient balance' },
  receivable_outstanding: {
    status: 422,
    title: 'Receivable outstanding',
    message: 'cash-outs are refused while a receivable is outstanding',
  },
  limit_exceeded: { status: 422, title: 'Limit exceeded', message: 'a configured limit would be exceeded' },
  refund_value_not_positive: {
    status: 422,
    title: 'Refund value not positive',
    message: 'refundValue must be greater than zero',
  },
  refund_exceeds_available: {
    status: 422,
    title: 'Refund exceeds available',
    message: 'refundValue exceeds the amount available for refund',
  },
  refund_deadline_exceeded: {
    status: 422,
    title: 'Refund deadline exceeded',
    message: 'refund deadline of 89 days has been exceeded',
  },
  cash_in_not_paid: {
    status: 422,
    title: 'Cash-in not paid',
    message: 'refunds can only be issued for PAID cash-in transactions',
  },
  cash_in_not_found: {
    status: 422,
    title: 'Cash-in not found',
    message: 'original cash-in transaction not found',
  },
  cursor_unknown: {
    status: 422,
    title: 'Cursor unknown',
    message: 'the feed has no event where this cursor was made; read it from readFrom',
  },
  not_supported_by_bank: {
    status: 422,
    title: 'Not supported by the bank',
    message: 'the bank of this service does not do this; nothing was changed',
  },
  partner_refused: {
    status: 422,
    title: 'Partner refused',
    message: 'the partner refused the operation; see existing for its final state',
  },
  misdirected_request: {
    status: 421,
    title: 'Misdirected request',
    message: 'the console does not answer under this host name',
  },
  too_many_webhooks: {
    status: 422,
    title: 'Too many webhooks',
    message: 'at most 20 webhook endpoints can exist',
  },
  webhook_url_not_allowed: {
    status: 422,
    title: 'Webhook URL not allowed',
    message: 'url must be a public HTTPS address',
  },
  rate_limited: { status: 429, title: 'Rate limited', message: 'too many requests; retry after Retry-After seconds' },
  internal_error: { status: 500, title: 'Internal error', message: 'internal error' },
  partner_unavailable: {
    status: 503,
    title: 'Partner unavailable',
    message: 'the partner does not answer; nothing was changed',
  },
  cash_out_suspended: {
    status: 503,
    title: 'Payouts suspended',
    message: 'payouts and refunds are suspended; nothing was changed',
  },
  overloaded: {
    status: 503,
    title: 'Overloaded',
    message: 'the service cannot take this now; retry after Retry-After seconds',
  },
} as const

/** A stable error code. */
export type ErrorCode = keyof typeof errors

/** The fault of a field: `field` is a path such as `transaction.value`, `code` a stable snake_case word. */
export interface FieldError {
  readonly field: string
  readonly code: string
  readonly message: string
}

/** The existing operation, in a refusal because of it. */
export interface ExistingOperation {
  readonly id: string
  readonly status: string
  /** Whether the request's normalised body created it; present on duplicates. */
  readonly samePayload?: boolean
}

/** A limit that the request would exceed. */
export interface ExceededLimit {
  readonly name: 'payment' | 'hour' | 'day' | 'night' | 'new_recipient'
  /** Owner: the API key, or the whole service. */
  readonly owner: 'api_key' | 'service'
  readonly maxCents: bigint
  readonly usedCents: bigint
  /** Time at which the amount would fit without further use; `null`: waiting does not help. */
  readonly freesAt: string | null
}

/** Position from which the feed can be read. */
export interface ReadFrom {
  /** To be sent as `cursor`. */
  readonly cursor: string
  /** Position of the next event, once it exists. */
  readonly position: number
}

/** Refusal of a request. Thrown at or below an edge; the edge turns it into problem+json. */
export class Refusal extends Error {
  override readonly name = 'Refusal'
  readonly code: ErrorCode
  readonly fields: readonly FieldError[]
  readonly existing: ExistingOperation | undefined
  readonly limit: ExceededLimit | undefined
  readonly readFrom: ReadFrom | undefined
  readonly retryAfterSeconds: number | undefined

  constructor(
    code: ErrorCode,
    details: {
      readonly message?: string
      readonly fields?: readonly FieldError[]
      readonly existing?: ExistingOperation
      readonly limit?: ExceededLimit
      readonly readFrom?: ReadFrom
      readonly retryAfterSeconds?: number
      readonly cause?: unknown
    } = {},
  ) {
    const { stackTraceLimit } = Error
    // Refusals need no stack, and creating it is a fifth of the cost of refusing a stranger.
    if (code !== 'internal_error') Error.stackTraceLimit = 0
    super(details.message ?? errors[code].message, 'cause' in details ? { cause: details.cause } : undefined)
    Error.stackTraceLimit = stackTraceLimit
    this.code = code
    this.fields = details.fields ?? []
    this.existing = details.existing
    this.limit = details.limit
    this.readFrom = details.readFrom
    this.retryAfterSeconds = details.retryAfterSeconds
  }
}

/**
 * Refuses the value of a field. `errors[]` contains the error's sentence with the field's full path as its first word:
 * «transaction.value must be greater than zero».
 * @param code an error whose message begins with the field's name
 * @param fault the code in `errors[]`
 * @source rules#http.1
 */
export function fieldRefusal(code: ErrorCode, field: string, fault: string): Refusal {
  const message = errors[code].message.replace(/^\w+/, field)
  return new Refusal(code, { fields: [{ field, code: fault, message }] })
}
