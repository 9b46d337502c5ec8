import { hostname } from 'node:os'
import { createInterface } from 'node:readline/promises'
import { parseArgs } from 'node:util'
import { insertAudit } from './audit/trail.ts'
import { APPLICATION_ROLE, openDatabase } from './platform/db/database.ts'
import { withSnapshot } from './platform/db/snapshot.ts'
import { createIds } from './platform/ids.ts'
import { createLogger } from './platform/log.ts'
import type { DatabaseProgram } from './programs.ts'
import { exportOf, type Identifier, readIdentifier, type SubjectExport } from './subject/index.ts'

/**
 * The program `export-subject`: prints all stored data about a person as JSON. The person is read from one line of
 * standard input, to keep the identifier out of process lists and shell histories. Requester and reason are audited
 * first.
 * @returns the exit status: 0 if printed, otherwise 2
 * @source rules#privacy.7, rules#privacy.9
 */
export const exportSubject: DatabaseProgram = async (parameters, usage, open) => {
  const order = readParameters(parameters, usage)
  const subject = await readSubject()
  const { url } = await open()
  const found = await withSnapshot({ url, name: 'pixgate export-subject' }, (queries) => exportOf(queries, subject))
  await audit(url, order, subject, found)
  console.log(JSON.stringify(found, null, 2))
  return 0
}

interface Order {
  readonly by: string
  readonly reason: string
}

/** @throws Error with the usage */
function readParameters(args: readonly string[], usage: string): Order {
  const options = { by: { type: 'string' }, reason: { type: 'string' } } as const
  const { by = '', reason = '' } = parseArgs({ args: [...args], options }).values
  if (by.trim() !== '' && reason.trim() !== '') return { by, reason }
  throw new Error(
    `the audit trail needs the requester and the reason. Usage: ${usage} --by NAME --reason TEXT, and the CPF, CNPJ or Pix key as one line of standard input`,
  )
}

/** @throws Error that repeats no input */
async function readSubject(): Promise<Identifier> {
  if (process.stdin.isTTY) console.error('CPF, CNPJ or Pix key:')
  const lines = createInterface({ input: process.stdin })
  for await (const line of lines) {
    const subject = readIdentifier(line.trim())
    if (subject) return subject
    break
  }
  throw new Error('standard input is neither CPF, CNPJ nor Pix key (a phone begins with +55)')
}

/** @throws Error when it cannot be written; then nothing is printed either */
async function audit(url: string, { by, reason }: Order, { masked }: Identifier, found: SubjectExport): Promise<void> {
  const logger = createLogger('silent')
  const database = openDatabase({ url, name: 'export-subject', connections: 1, logger, role: APPLICATION_ROLE })
  const at = Date.parse(found.takenAt)
  const { operations, callbacks, cases, audit } = found
  const facts = {
    reason,
    found: { operations: operations.length, callbacks: callbacks.length, cases: cases.length, audit: audit.length },
  }
  try {
    await insertAudit(database, {
      id: createIds({ now: () => at }).uuid(),
      at,
      actor: by,
      action: 'personal_data.exported',
      subject: masked,
      address: hostname(),
      facts,
    })
  } finally {
    await database.close()
  }
}
