import type { PartnerChargeRequest } from '@pixgate/spec'
import { CONFLICT, classifyCancel, classifyCreate, classifyQuery } from './classify.ts'
import type { PartnerLink } from './link.ts'
import type { ChargeAnswer, ChargeQueryAnswer, ChargeRequest, Partner } from './port.ts'

/**
 * A bank that speaks Pixgate's own partner protocol, as the simulator does.
 * @source rules#partner.1, rules#partner.3
 */
export function createHttpPartner(link: PartnerLink): Partner {
  const getCharge: Partner['getCharge'] = async (id, terms, deadline) =>
    classifyQuery(id, terms, await link.exchange({ method: 'GET', path: chargePath(id) }, deadline))

  return {
    capabilities: new Set(['idempotent-charge', 'query-charge', 'cancel-charge']),
    getCharge,
    async createCharge(id, request, deadline) {
      const call = { method: 'PUT', path: chargePath(id), body: chargeBody(request) } as const
      const answer = classifyCreate(id, request, await link.exchange(call, deadline))
      const isConflict = answer.kind === 'REJECTED' && answer.errorCode === CONFLICT
      return isConflict ? settleConflict(answer, await getCharge(id, request, deadline)) : answer
    },
    cancelCharge: async (id, deadline) =>
      classifyCancel(await link.exchange({ method: 'DELETE', path: chargePath(id) }, deadline)),
  }
}

/**
 * A conflict says that the bank knows our id, perhaps from an attempt whose answer was lost: what it has there counts,
 * and the refusal only where it has nothing.
 */
function settleConflict(refusal: ChargeAnswer, known: ChargeQueryAnswer): ChargeAnswer {
  if (known.kind === 'NOT_FOUND') return refusal
  // The question was not sent; the charge was.
  if (known.kind === 'NOT_SENT') return { kind: 'UNKNOWN', reason: known.reason, httpStatus: undefined }
  return known
}

function chargePath(id: string): string {
  return `/charges/${encodeURIComponent(id)}`
}

function chargeBody({ valueCents, expiresAt, ...rest }: ChargeRequest): PartnerChargeRequest {
  return { ...rest, valueCents: Number(valueCents), expiresAt: new Date(expiresAt).toISOString() }
}
