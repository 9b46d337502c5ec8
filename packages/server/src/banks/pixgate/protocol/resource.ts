import type { Judge } from '../../answers.ts'
import type { AnyReported } from '../../port.ts'

/** A kind of thing that is put to the bank under our id and asked about by it. */
export interface Resource<Request, Terms, Report extends AnyReported> {
  /** Where it is kept at the bank, before the id. */
  readonly path: string
  /** Whether a refusal gives money back that was set aside for it. */
  readonly holdsMoney: boolean
  /** The body of its PUT. */
  readonly bodyOf: (request: Request) => object
  /** What of a request the bank must echo. */
  readonly termsOf: (request: Request) => Terms
  /** Says what the bank's body means for what was asked for under `id`, on `terms`. */
  readonly judge: (id: string, terms: Terms) => Judge<Report>
}
