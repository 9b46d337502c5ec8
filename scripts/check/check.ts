/** One check of the repository. */
export interface Check {
  readonly name: string
  /** @returns one line per problem */
  run(): Promise<string[]>
}
