import { createHmac } from 'node:crypto'
import { isUtf8 } from 'node:buffer'
import type { Operation } from './document.ts'
import { jsonText } from './spoiled-json.ts'

/** A header as it is sent. */
export type Header = readonly [name: string, value: string]

/**
 * What is wrong with a request, in the order in which it is judged: no HTTP as it should be, a path or a method that is
 * not there, a body that is too long, credentials, a shape, and an id that names nothing.
 */
export type Flaw = 'transport' | 'path' | 'method' | 'size' | 'credentials' | 'shape' | 'id'

/** A request that is still being written. What changes it says what it breaks. */
export interface Draft {
  readonly operation: Operation
  method: string
  /** With `{name}` for its parameters. */
  path: string
  /** By name, as they are sent. */
  readonly parameters: Record<string, string>
  query: QueryItem[]
  headers: Header[]
  contentTypes: string[]
  /** Makes the headers that prove who sends the bytes. */
  prove: (body: Buffer) => readonly Header[]
  /** The value that is sent as JSON, where `text` does not stand in its place. */
  value: unknown
  body: (json: string) => Buffer
  hasBody: boolean
  isChunked: boolean
  /** What is known to be wrong. */
  readonly flaws: Set<Flaw>
  /** Where it cannot be known whether the request is right. */
  isOpen: boolean
}

/** A parameter of a query; `raw` where it is not sent as names and values usually are. */
export interface QueryItem {
  readonly name: string
  readonly value: string
  readonly raw?: string
}

/** A request, ready to be sent, and what has to become of it. */
export interface FuzzedRequest {
  readonly method: string
  readonly bytes: Buffer
  /** The statuses that it may get; `undefined`: any that is documented. */
  readonly statuses: readonly number[] | undefined
  /** Whether it must change nothing. */
  readonly isRefused: boolean
  readonly correlationId: string | undefined
}
