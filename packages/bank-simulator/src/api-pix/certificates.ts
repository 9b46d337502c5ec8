import { existsSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { LOCATION_HOST } from '../locations.ts'
import { type Authority, authorityOf, type Credential, createAuthority, pkcs12Of } from './authority.ts'

/** What the bank and its client prove themselves with. */
export interface Certificates {
  readonly authority: Authority
  /** Of whoever listens. */
  readonly server: Credential
  /** For whoever calls: also in `client.p12`. */
  readonly client: Credential
  /** Of the bank where it calls: its callbacks. */
  readonly callback: Credential
  /** Signs what a location answers. */
  readonly signature: Credential
  readonly files: CertificateFiles
}

/** Where those lie that a client needs. */
export interface CertificateFiles {
  readonly ca: string
  readonly clientCertificate: string
  readonly clientKey: string
  readonly clientPkcs12: string
}

/** Keys are their owner's alone. */
const OWNER_ONLY = 0o600
const OWNER_ONLY_FOLDER = 0o700

/**
 * The certificates of a directory; they are made there where they are missing, so that who trusts them once may go on
 * after a restart. `client.p12` is written anew under the passphrase.
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

  /** What is there, or what is made; the certificate is written last, so that a pair of which it is there is whole. */
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
