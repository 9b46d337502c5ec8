export interface Job {
  /** @returns whether more may be due right away */
  processNext(): Promise<boolean>
}
