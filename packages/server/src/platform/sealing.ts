import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'

/** Secrets at rest, sealed with AES-256-GCM under keys derived from the configured ones. */

/** The configured keys: any text of enough entropy. */
export interface EncryptionKeys {
  /** `PIXGATE_ENCRYPTION_KEY`: seals and opens. */
  readonly current: string
  /** `PIXGATE_ENCRYPTION_KEY_PREVIOUS`: only opens. */
  readonly previous: string | undefined
}

/** Place of a sealed value. It opens nowhere else. */
export interface Place {
  readonly table: string
  readonly row: string
  readonly column: string
}

export interface Opened {
  readonly plain: Buffer
  readonly by: keyof EncryptionKeys
}

export interface Sealer {
  /** Seals with the current key, for one place. Never yields the same bytes twice. */
  seal(plain: Uint8Array, place: Place): Buffer
  readonly headers: readonly Buffer[]
  /** @throws NotOpened */
  open(sealed: Uint8Array, place: Place): Opened
}

/**
 * A sealed value does not open.
 * - `another_key`: none of the configured keys sealed it.
 * - `changed`: a configured key did, but the bytes were changed or belong to another place.
 */
export class NotOpened extends Error {
  override readonly name = 'NotOpened'
  readonly reason: 'another_key' | 'changed'

  constructor(reason: NotOpened['reason']) {
    super(reason === 'another_key' ? 'it was sealed with another key' : 'it was changed, or belongs to another place')
    this.reason = reason
  }
}

/** Magic letters and version of the format. */
const FORMAT = Buffer.from('PXG\x02', 'latin1')
const KEY_ID_BYTES = 8
const HEADER_BYTES = FORMAT.length + KEY_ID_BYTES
const NONCE_BYTES = 12
const TAG_BYTES = 16

/**
 * Creates the sealer of the configured keys.
 *
 * A sealed value is the format (4 bytes), the id of its key (8), a nonce (12), the ciphertext and the tag (16). The tag
 * also covers the header and the place.
 * @source rules#encryption.1, rules#encryption.2, ADR-0029
 */
export function createSealer({ current, previous }: EncryptionKeys): Sealer {
  const keys = [
    keyOf('current', current),
    ...(previous === undefined || previous === current ? [] : [keyOf('previous', previous)]),
  ] as const
  return {
    headers: keys.map(({ header }) => header),
    seal: (plain, place) => seal(keys[0], plain, place),
    open: (sealed, place) => {
      const key = keys.find(({ header }) => header.equals(sealed.subarray(0, HEADER_BYTES)))
      if (key === undefined) throw new NotOpened('another_key')
      return open(key, sealed, place)
    },
  }
}

interface Key {
  readonly by: keyof EncryptionKeys
  readonly header: Buffer
  readonly key: Buffer
}

/** HKDF suffices, since the text cannot be guessed: production checks it, and the sandbox generates 256 random bits. */
function keyOf(by: Key['by'], text: string): Key {
  const derive = (info: string, bytes: number) => Buffer.from(hkdfSync('sha256', text, SALT, info, bytes))
  return {
    by,
    header: Buffer.concat([FORMAT, derive('id', KEY_ID_BYTES)]),
    key: derive('AES-256-GCM', 32),
  }
}

const SALT = 'pixgate key-encryption key'

function seal({ header, key }: Key, plain: Uint8Array, place: Place): Buffer {
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES })
  cipher.setAAD(boundTo(header, place))
  const ciphertext = Buffer.concat([cipher.update(plain), cipher.final()])
  return Buffer.concat([header, nonce, ciphertext, cipher.getAuthTag()])
}

function open({ by, header, key }: Key, sealed: Uint8Array, place: Place): Opened {
  const nonce = sealed.subarray(HEADER_BYTES, HEADER_BYTES + NONCE_BYTES)
  const ciphertext = sealed.subarray(HEADER_BYTES + NONCE_BYTES, -TAG_BYTES)
  const tag = sealed.subarray(-TAG_BYTES)
  if (sealed.length < HEADER_BYTES + NONCE_BYTES + TAG_BYTES) throw new NotOpened('changed')
  const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES })
  decipher.setAAD(boundTo(header, place)).setAuthTag(tag)
  try {
    return { plain: Buffer.concat([decipher.update(ciphertext), decipher.final()]), by }
  } catch {
    // The only possible failure here is a wrong tag.
    throw new NotOpened('changed')
  }
}

/** Additional data covered by the tag; unique per place. */
function boundTo(header: Buffer, { table, row, column }: Place): Buffer {
  return Buffer.concat([header, Buffer.from(JSON.stringify([table, row, column]))])
}
