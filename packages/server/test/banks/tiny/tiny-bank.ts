import { buildDynamicBrCode } from '@pixgate/brcode'

/**
 * A bank that has nothing in common with ours: lines of words, reais with two decimals, no signature, nothing that is done
 * once when it is told twice, no payouts. It lives in the test's own process.
 *
 * | it is told | it answers |
 * | --- | --- |
 * | `NOVA <ref> <reais> <end>` | `OK <tid> <code>` |
 * | `VER <ref>` | `NADA`, or `COB <tid> <status> <reais> <end> <code>` and a `PIX …` and `DEV …` for each movement |
 * | `DEVOLVER <e2e> <id> <reais>` | `OK <rtr>` |
 * | `DEVOLUCAO <e2e> <id>` | `NADA`, or `DEV <id> <rtr> <status> <reais> <at>` |
 */
export interface TinyBank {
  /** Says something to it. `LOST`: nobody knows whether it heard. */
  exchange(words: string): Promise<string>
  /** Loses its answer to the next order, having carried it out. */
  loseNextAnswer(): void
  /** Lets somebody pay a charge, by our id. @returns the line that tells of it */
  pay(ref: string): string
  /** Ends a refund, by our id. @returns the line that tells of it */
  settle(id: string, status: 'DEVOLVIDO' | 'NAO_REALIZADO'): string
  /** Everything it was told, in order. */
  readonly heard: readonly string[]
  /** How much it has made of each. */
  readonly made: { readonly charges: number; readonly refunds: number }
  /** What it holds for us. */
  readonly heldCents: number
}

interface TinyCharge {
  readonly ref: string
  readonly tid: string
  readonly reais: string
  readonly end: string
  readonly code: string
  readonly payments: { readonly endToEndId: string; readonly at: string }[]
}

interface TinyRefund {
  readonly endToEndId: string
  readonly id: string
  readonly rtr: string
  readonly reais: string
  status: string
  at: string
}

/** Opens one. `nowMs` is its clock. */
export function openTinyBank(nowMs: () => number): TinyBank {
  const charges: TinyCharge[] = []
  const refunds: TinyRefund[] = []
  const heard: string[] = []
  let isLosing = false
  const at = () => new Date(nowMs()).toISOString()

  function charge(ref: string, reais: string, end: string): string {
    const tid = `tiny-${charges.length + 1}`
    const code = buildDynamicBrCode({ url: `tiny.example/${tid}`, merchantName: 'Loja', merchantCity: 'RECIFE' })
    charges.push({ ref, tid, reais, end, code, payments: [] })
    return `OK ${tid} ${code.replaceAll(' ', '_')}`
  }

  function see(ref: string): string {
    const found = charges.find((one) => one.ref === ref)
    if (!found) return 'NADA'
    const { tid, reais, end, code, payments } = found
    const status = payments.length > 0 ? 'CONCLUIDA' : 'ATIVA'
    return [
      `COB ${tid} ${status} ${reais} ${end} ${code.replaceAll(' ', '_')}`,
      ...payments.map((payment) => `PIX ${payment.endToEndId} ${reais} ${payment.at}`),
      ...payments.flatMap(({ endToEndId }) => refunds.filter((one) => one.endToEndId === endToEndId).map(lineOf)),
    ].join('\n')
  }

  function giveBack(endToEndId: string, id: string, reais: string): string {
    const rtr = `D${endToEndId.slice(1)}${refunds.length}`
    refunds.push({ endToEndId, id, rtr, reais, status: 'EM_PROCESSAMENTO', at: at() })
    return `OK ${rtr}`
  }

  function answer(words: string): string {
    const [verb, ...given] = words.split(' ')
    const [one = '', two = '', three = ''] = given
    if (verb === 'NOVA') return charge(one, two, three)
    if (verb === 'VER') return see(one)
    if (verb === 'DEVOLVER') return giveBack(one, two, three)
    // A refund is kept under its payment, and found by nothing else.
    const refund = refunds.find(({ endToEndId, id }) => endToEndId === one && id === two)
    return refund ? lineOf(refund) : 'NADA'
  }

  return {
    heard,
    exchange: async (words) => {
      heard.push(words)
      const told = answer(words)
      const isOrder = words.startsWith('NOVA ') || words.startsWith('DEVOLVER ')
      if (!isOrder || !isLosing) return told
      isLosing = false
      return 'LOST'
    },
    loseNextAnswer: () => {
      isLosing = true
    },
    pay: (ref) => {
      const found = charges.find((one) => one.ref === ref)
      if (!found) throw new Error(`the bank has no charge ${ref}`)
      const endToEndId = `E000000012026112113150000${found.tid.slice(5)}x${found.payments.length}`
      found.payments.push({ endToEndId, at: at() })
      return `PIX ${ref} ${endToEndId}`
    },
    settle: (id, status) => {
      const refund = refunds.find((one) => one.id === id)
      if (!refund) throw new Error(`the bank has no refund ${id}`)
      Object.assign(refund, { status, at: at() })
      return `DEV ${id} ${status}`
    },
    get made() {
      return { charges: charges.length, refunds: refunds.length }
    },
    get heldCents() {
      const received = charges.flatMap(({ reais, payments }) => payments.map(() => centsOf(reais)))
      const gone = refunds.filter(({ status }) => status === 'DEVOLVIDO').map(({ reais }) => centsOf(reais))
      return sum(received) - sum(gone)
    },
  }
}

function lineOf({ id, rtr, status, reais, at }: TinyRefund): string {
  return `DEV ${id} ${rtr} ${status} ${reais} ${at}`
}

function centsOf(reais: string): number {
  return Math.round(Number(reais) * 100)
}

function sum(cents: readonly number[]): number {
  return cents.reduce((total, one) => total + one, 0)
}
