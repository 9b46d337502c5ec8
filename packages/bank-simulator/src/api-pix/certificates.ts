import { existsSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { LOCATION_HOST } from '../locations.ts'
import { type Authority, authorityOf, type Credential, createAuthority, pkcs12Of } from './authority.ts'

/** Certificates of the bank and its client. */
export interface Certificates {
  readonly authority: Authority
  /** Server certificate of the listeners. */
  readonly server: Credential
  /** Client certificate for API Pix clients; also in `client.p12`. */
  readonly client: Credential
  /** The bank's client certificate for callbacks. */
  readonly callback: Credential
  /** Signs the payloads of charge locations. */
  readonly signature: Credential
  readonly files: CertificateFiles
}

/** Paths of the files that a client needs. */
export interface CertificateFiles {
  readonly ca: string
  readonly clientCertificate: string
  readonly clientKey: string
  readonly clientPkcs12: string
}

/** File modes: only the owner can read the private keys. */
const OWNER_ONLY = 0o600
const OWNER_ONLY_FOLDER = 0o700

/**
 * Reads the certificates of a directory and creates missing ones, so that clients can trust them across restarts.
 * `client.p12` is rewritten each time, with the passphrase.
 */
export async function certificatesIn(directory: string, passphrase: string): Promise<Certificates> {
  await mkdir(directory, { recursive: true, mode: OWNER_ONLY_FOLDER })
  const folder = new Folder(directory)
  const authority = authorityOf(await folder.credential('ca', () => createAuthority()))
  const issued = (name: string, order: Parameters<Authority['issue']>[0]) =>
    folder.credential(name, () => authority.issue(order))
  const hosts = ['localhost', '127.0.0.1', LOCATION_HOST]
  const server = await issued('server', { name: 'localhost', use: 'server', hosts })
  const client = await issued('client', { name: 'client', use: 'client' })
  const callback = await issued('callback', { name: 'callbacks', use: 'client' })
  const signature = await issued('signature', { name: 'signature', use: 'client' })
  await folder.write('client.p12', pkcs12Of(client, authority.certificate, passphrase))
  const files = {
    ca: folder.path('ca.pem'),
    clientCertificate: folder.path('client.pem'),
    clientKey: folder.path('client-key.pem'),
    clientPkcs12: folder.path('client.p12'),
  }
  return { authority, server, client, callback, signature, files }
}

class Folder {
  readonly #directory: string

  constructor(directory: string) {
    this.#directory = directory
  }

  path(file: string): string {
    return join(this.#directory, file)
  }

  write(file: string, content: string | Buffer): Promise<void> {
    return writeFile(this.path(file), content, { mode: OWNER_ONLY })
  }

  /** Reads a credential or creates it. The certificate is written last, so an existing one means that the pair is complete. */
  async credential(name: string, make: () => Promise<Credential>): Promise<Credential> {
    const [certificate, key] = [`${name}.pem`, `${name}-key.pem`]
    if (existsSync(this.path(certificate))) {
      return { certificate: await this.#read(certificate), key: await this.#read(key) }
    }
    const made = await make()
    await this.write(key, made.key)
    await this.write(certificate, made.certificate)
    return made
  }

  #read(file: string): Promise<string> {
    return readFile(this.path(file), 'utf8')
  }
}
