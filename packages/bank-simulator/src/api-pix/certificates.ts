import { X509Certificate } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { isIP } from 'node:net'
import { join } from 'node:path'
import { LOCATION_HOST } from '../locations.ts'
import {
  type Authority,
  authorityOf,
  type CertificateOrder,
  type Credential,
  createAuthority,
  pkcs12Of,
} from './authority.ts'

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

/** Options of {@link certificatesIn}. */
export interface CertificateOptions {
  /** Passphrase of `client.p12`, which may be empty; `pixgate` by default. */
  readonly passphrase?: string
  /** Host names and addresses of the server certificate, besides those of loopback. */
  readonly certificateNames?: readonly string[]
}

/**
 * Reads the certificates of a directory and creates missing ones, so that clients can trust them across restarts.
 * `client.p12` is rewritten each time, with the passphrase. The server certificate is issued again if it lacks a name.
 */
export async function certificatesIn(
  directory: string,
  { passphrase = 'pixgate', certificateNames = [] }: CertificateOptions = {},
): Promise<Certificates> {
  await mkdir(directory, { recursive: true, mode: OWNER_ONLY_FOLDER })
  const folder = new Folder(directory)
  const authority = authorityOf(await folder.credential('ca', () => createAuthority()))
  const issued = (name: string, order: CertificateOrder) => folder.credential(name, () => authority.issue(order))
  const hosts = ['localhost', '127.0.0.1', LOCATION_HOST, ...certificateNames]
  const order = { name: 'localhost', use: 'server', hosts } as const
  const kept = await issued('server', order)
  const server = hasNames(kept, hosts) ? kept : await folder.replace('server', await authority.issue(order))
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

function hasNames({ certificate }: Credential, hosts: readonly string[]): boolean {
  const known = new X509Certificate(certificate)
  return hosts.every((host) => (isIP(host) > 0 ? known.checkIP(host) : known.checkHost(host)) !== undefined)
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
    return this.replace(name, await make())
  }

  async replace(name: string, made: Credential): Promise<Credential> {
    await this.write(`${name}-key.pem`, made.key)
    await this.write(`${name}.pem`, made.certificate)
    return made
  }

  #read(file: string): Promise<string> {
    return readFile(this.path(file), 'utf8')
  }
}
