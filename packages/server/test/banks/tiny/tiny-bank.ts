import { buildDynamicBrCode } from '@pixgate/brcode'

/**
 * A bank that has nothing in common with ours: lines of words, reais with two decimals, no signature, nothing that is done
 * once when it gets an order twice, no payouts. It runs in the test's own process.
 *
 * | it receives | it answers |
 * | --- | --- |
 * | `NOVA <ref> <reais> <end>` | `OK <tid> <code>` |
 * | `VER <ref>` | `NADA`, or `COB <tid> <status> <reais> <end> <code>` and a `PIX …` and `DEV …` for each movement |
 * | `DEVOLVER <e2e> <id> <reais>` | `OK <rtr>` |
 * | `DEVOLUCAO <e2e> <id>` | `NADA`, or `DEV <id> <rtr> <status> <reais> <at>` |
 */
export class TinyBank {
  /** Everything that was said to it, in order. */
  readonly heard: string[] = []
  readonly #charges: TinyCharge[] = []
  readonly #refunds: TinyRefund[] = []
  readonly #nowMs: () => number
  #isLosing = false

  /** @param nowMs its clock */
  constructor(nowMs: () => number) {
    this.#nowMs = nowMs
  }

  /** Sends it a message. `LOST`: it is unknown whether it arrived. */
  async exchange(words: string): Promise<string> {
    this.heard.push(words)
    const answer = this.#answer(words)
    const isOrder = words.startsWith('NOVA ') || words.startsWith('DEVOLVER ')
    if (!isOrder || !this.#isLosing) return answer
    this.#isLosing = false
    return 'LOST'
  }

  /** Loses its answer to the next order, having carried it out. */
  loseNextAnswer(): void {
    this.#isLosing = true
  }

  /** Lets somebody pay a charge, by our id. @returns the line that says so */
  pay(ref: string): string {
    const charge = this.#charges.find((one) => one.ref === ref)
    if (!charge) throw new Error(`the bank has no charge ${ref}`)
    const endToEndId = `E000000012026112113150000${charge.tid.slice(5)}x${charge.payments.length}`
    charge.payments.push({ endToEndId, paidAt: this.#time() })
    return `PIX ${ref} ${endToEndId}`
  }

  /** Ends a refund, by our id. @returns the line that says so */
  settle(id: string, status: 'DEVOLVIDO' | 'NAO_REALIZADO'): string {
    const refund = this.#refunds.find((one) => one.id === id)
    if (!refund) throw new Error(`the bank has no refund ${id}`)
    Object.assign(refund, { status, changedAt: this.#time() })
    return `DEV ${id} ${status}`
  }

  /** How much it has made of each. */
  get made(): { readonly charges: number; readonly refunds: number } {
    return { charges: this.#charges.length, refunds: this.#refunds.length }
  }

  /** Its balance of ours. */
  get heldCents(): number {
    const received = this.#charges.flatMap(({ reais, payments }) => payments.map(() => centsOf(reais)))
    const gone = this.#refunds.filter(({ status }) => status === 'DEVOLVIDO').map(({ reais }) => centsOf(reais))
    return sum(received) - sum(gone)
  }

  #answer(words: string): string {
    const [verb, ...given] = words.split(' ')
    const [one = '', two = '', three = ''] = given
    if (verb === 'NOVA') return this.#make(one, two, three)
    if (verb === 'VER') return this.#see(one)
    if (verb === 'DEVOLVER') return this.#giveBack(one, two, three)
    // A refund is kept under its payment, and found by nothing else.
    const refund = this.#refunds.find(({ endToEndId, id }) => endToEndId === one && id === two)
    return refund ? lineOf(refund) : 'NADA'
  }

  #make(ref: string, reais: string, end: string): string {
    const tid = `tiny-${this.#charges.length + 1}`
    const code = buildDynamicBrCode({ url: `tiny.example/${tid}`, merchantName: 'Loja', merchantCity: 'RECIFE' })
    this.#charges.push({ ref, tid, reais, end, code: code.replaceAll(' ', '_'), payments: [] })
    return `OK ${tid} ${code.replaceAll(' ', '_')}`
  }

  #see(ref: string): string {
    const charge = this.#charges.find((one) => one.ref === ref)
    if (!charge) return 'NADA'
    const { tid, reais, end, code, payments } = charge
    const refunds = this.#refunds.filter((refund) =>
      payments.some(({ endToEndId }) => endToEndId === refund.endToEndId),
    )
    return [
      `COB ${tid} ${payments.length > 0 ? 'CONCLUIDA' : 'ATIVA'} ${reais} ${end} ${code}`,
      ...payments.map(({ endToEndId, paidAt }) => `PIX ${endToEndId} ${reais} ${paidAt}`),
      ...refunds.map(lineOf),
    ].join('\n')
  }

  #giveBack(endToEndId: string, id: string, reais: string): string {
    const rtr = `D${endToEndId.slice(1)}${this.#refunds.length}`
    this.#refunds.push({ endToEndId, id, rtr, reais, status: 'EM_PROCESSAMENTO', changedAt: this.#time() })
    return `OK ${rtr}`
  }

  #time(): string {
    return new Date(this.#nowMs()).toISOString()
  }
}

interface TinyCharge {
  readonly ref: string
  readonly tid: string
  readonly reais: string
  readonly end: string
  readonly code: string
  readonly payments: { readonly endToEndId: string; readonly paidAt: string }[]
}

interface TinyRefund {
  readonly endToEndId: string
  readonly id: string
  readonly rtr: string
  readonly reais: string
  status: string
  changedAt: string
}

function lineOf({ id, rtr, status, reais, changedAt }: TinyRefund): string {
  return `DEV ${id} ${rtr} ${status} ${reais} ${changedAt}`
}

function centsOf(reais: string): number {
  return Math.round(Number(reais) * 100)
}

function sum(cents: readonly number[]): number {
  return cents.reduce((total, one) => total + one, 0)
}
