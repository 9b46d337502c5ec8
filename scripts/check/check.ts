/** One check of the repository. */
export interface Check {
  readonly name: string
  /** @returns one line per problem; none when all is well */
  run(): Promise<string[]>
}
