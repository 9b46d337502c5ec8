import { sha256 } from '../platform/crypto.ts'
import { isUuid, uuidText } from '../platform/ids.ts'

/**
 * An entry's public id is derived from its place in the account's history and stored nowhere: a UUIDv8 whose last 62
 * bits are the version and whose other bits are a fingerprint of account and version, so that ids cannot be made up.
 * @source rules#ledger.get
 */
export function entryId(accountId: string, version: bigint): string {
  const bytes = sha256(`${accountId} ${version}`).subarray(0, 16)
  bytes.writeBigUInt64BE(version, 8)
  return uuidText(bytes, 8)
}

/** The version that an entry's id stands for, or `undefined` where no entry of this account has such an id. */
export function entryVersion(accountId: string, id: string): bigint | undefined {
  if (!isUuid(id)) return undefined
  const version = BigInt(`0x${id.slice(19).replace('-', '')}`) & VERSION_BITS
  return entryId(accountId, version) === id.toLowerCase() ? version : undefined
}

const VERSION_BITS = (1n << 62n) - 1n
