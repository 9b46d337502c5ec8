import type { OperationKind } from './api.ts'
import { Badge, type Tone } from './ui/data.tsx'
import { useWords } from './words/words.tsx'

/** States of operations: the tone of each; `words/` has what they are called. */

const TONES: Readonly<Record<OperationKind, Readonly<Record<string, Tone>>>> = {
  cash_in: { PENDING: 'wait', PAID: 'ok', EXPIRED: 'calm', FAILED: 'bad' },
  cash_out: {
    RESERVED: 'wait',
    DISPATCHED: 'wait',
    CONFIRMED: 'ok',
    FAILED: 'bad',
    REVERSED: 'calm',
    RELEASED: 'calm',
  },
  refund_in: { PENDING: 'wait', CONFIRMED: 'ok', FAILED: 'bad' },
  adjustment: { CREDITED: 'ok', DEBITED: 'ok', HELD: 'wait', SUSPENDED: 'wait' },
}

const IN_DOUBT = new Set(['PROVIDER_RESULT_UNKNOWN', 'RECONCILIATION_REQUIRED'])

interface Standing {
  readonly kind: OperationKind
  readonly status: string
  readonly doubt?: string | null
}

function isInDoubt({ status, doubt = null }: Standing): boolean {
  return doubt !== null || IN_DOUBT.has(status)
}

export function OperationBadge({ operation }: { readonly operation: Standing }) {
  const words = useWords()
  const tone = isInDoubt(operation) ? 'bad' : (TONES[operation.kind][operation.status] ?? 'calm')
  return <Badge tone={tone}>{stateText(operation, words)}</Badge>
}

export function stateText(operation: Standing, words: ReturnType<typeof useWords>): string {
  const ofKind: Readonly<Record<string, string>> = words.states[operation.kind]
  const text = ofKind[operation.status] ?? operation.status
  return operation.doubt && !IN_DOUBT.has(operation.status) ? words.inDoubt(text) : text
}

/** States of a kind for a filter; without a kind those that mean the same of all. */
export function statesOf(
  kind: OperationKind | undefined,
  words: ReturnType<typeof useWords>,
): (readonly [string, string])[] {
  if (kind === undefined) return Object.entries(words.states.cash_out).filter(([status]) => IN_DOUBT.has(status))
  return Object.entries(words.states[kind])
}

/** Money of an operation that leaves the account. */
export function isOutgoing({ kind, status }: { kind: OperationKind; status: string }): boolean {
  return (
    kind === 'cash_out' ||
    kind === 'refund_in' ||
    (kind === 'adjustment' && ['DEBITED', 'BORNE', 'LOST'].includes(status))
  )
}
