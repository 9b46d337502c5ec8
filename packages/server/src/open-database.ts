export interface OpenDatabase {
  readonly url: string
  readonly stop: () => Promise<void>
}
