import { type CaseSource, type FuzzCase, makeCase } from './cases.ts'
import { openConnection } from './connection.ts'
import { createCorpus } from './corpus.ts'
import type { Operation } from './document.ts'
import { complaintsAbout } from './judge.ts'
import type { Secrets } from './mutations.ts'

/** A service that is fuzzed: its API on loopback, and what opens it. */
export interface Target extends Omit<Secrets, 'apiKey'> {
  readonly port: number
  /** Address of a receiver of notifications, without a path. */
  readonly receiverUrl: string
  /** Must not turn up in any answer. */
  readonly secrets: readonly string[]
}

/** How a campaign is run. */
export interface CampaignOptions {
  readonly target: Target
  readonly operations: readonly Operation[]
  readonly seed: number
  /** Index of the first case. */
  readonly from: number
  readonly cases: number
  /** Epoch milliseconds after which no more cases are begun. */
  readonly until: number
  readonly onProgress?: (report: Report) => void
}

/** What came of a campaign. */
export interface Report {
  cases: number
  /** Answers by operation and status. */
  readonly answers: Map<string, Map<number, number>>
  /** By what is the same for findings of one kind. */
  readonly findings: Map<string, Finding>
}

/** What was found, with the case in which it was seen first. */
export interface Finding {
  count: number
  readonly complaint: string
  readonly index: number
  /** The mutations that are needed for it. */
  readonly mutations: readonly string[]
  /** Operation, bytes and answer. */
  readonly evidence: string
}

const CONNECTIONS = 16
const BATCH = 1_000
