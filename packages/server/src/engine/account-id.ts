import { type AccountCode, accounts } from '@pixgate/spec'

/** Account ids are the order of the ledger's table. */
const ACCOUNT_CODES = Object.keys(accounts) as AccountCode[]

/** Ids are from 1 to this. */
export const ACCOUNT_COUNT = ACCOUNT_CODES.length

/** The database's id of an account. */
export function accountId(code: AccountCode): number {
  return ACCOUNT_CODES.indexOf(code) + 1
}

/** The account with this id in the database. */
export function accountCode(id: number): AccountCode {
  const code = ACCOUNT_CODES[id - 1]
  if (code === undefined) throw new Error(`no account has the id ${id}`)
  return code
}
