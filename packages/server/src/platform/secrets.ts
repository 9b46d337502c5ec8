import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { getSystemErrorMessage } from 'node:util'
import forge from 'node-forge'
import type { Logger } from './log.ts'
import { andMore, createLogThrottle, type LogThrottle } from './runtime.ts'
import type { Environment, Variables } from './variables.ts'

export function fileVariable(secretName: string): string {
  return `${secretName}_FILE`
}

export interface WithSecretFiles {
  readonly environment: Environment
  readonly faults: ReadonlyMap<string, string>
}

/**
 * Reads secrets from files: `<NAME>_FILE` for every secret `<NAME>` of a table. Trailing line breaks are removed. A
 * fault repeats the path and nothing of the file.
 * @source rules#config.8
 */
export function withSecretFiles(table: Variables, environment: Environment): WithSecretFiles {
  const values: Record<string, string> = {}
  const faults = new Map<string, string>()
  for (const name of Object.keys(table).filter((candidate) => table[candidate]?.secret)) {
    const variable = fileVariable(name)
    const path = environment[variable]
    if (!path) continue
    if (environment[name]) faults.set(name, `${name} and ${variable} are both set; set one of them`)
    else {
      const secret = readSecret(path)
      if ('fault' in secret) faults.set(name, `${variable} names ${path}, which ${secret.fault}`)
      else values[name] = secret.value
    }
  }
  return { environment: { ...environment, ...values }, faults }
}

function readSecret(path: string): { readonly value: string } | { readonly fault: string } {
  try {
    const value = readFileSync(path, 'utf8').replace(/[\r\n]+$/, '')
    return value === '' ? { fault: 'is empty' } : { value }
  } catch (error) {
    return { fault: `cannot be read: ${fileErrorReason(error)}` }
  }
}

/** The system's reason for an unreadable file: `permission denied`. */
export function fileErrorReason(error: unknown): string {
  const { errno, code } = error as NodeJS.ErrnoException
  return errno === undefined ? (code ?? String(error)) : getSystemErrorMessage(errno)
}

/**
 * Faults of a production's secrets, each with the variable's name and never its value.
 * @source rules#config.2, rules#production.2
 */
export function secretFaults(table: Variables, environment: Environment): string[] {
  const secrets = Object.entries(table).flatMap(([name, { secret }]) => {
    const value = secret && environment[name]
    return value ? [{ name, value }] : []
  })
  return [...sharedSecrets(secrets), ...weakSecrets(secrets)]
}

interface NamedSecret {
  readonly name: string
  readonly value: string
}

/** A person who knows one secret would know the other. */
function sharedSecrets(secrets: readonly NamedSecret[]): string[] {
  const owners = new Map<string, string>()
  return secrets.flatMap(({ name, value }) => {
    const owner = owners.get(value)
    if (owner !== undefined) return [`${name} has the value of ${owner}: every secret needs one of its own`]
    owners.set(value, name)
    return []
  })
}

/** A secret's own minimum length is checked with its variable. */
const LENGTH_MIN = 32

function weakSecrets(secrets: readonly NamedSecret[]): string[] {
  return secrets.flatMap(({ name, value }) => {
    const isAddress = /^[a-z]+:\/\//.test(value)
    const weakness = isAddress ? passwordWeaknessOf(value) : value.length < LENGTH_MIN ? undefined : weaknessOf(value)
    return weakness === undefined ? [] : [`${name} ${weakness}`]
  })
}

/** Minimum of the entropy estimate: far below 16 random bytes in any spelling, far above texts people make up. */
const BITS_MIN = 56

/** Placeholders of secrets in documents and examples. */
const PLACEHOLDER =
  /change.?(me|it)|choose.?(one|another|me)|replace.?(me|this|with)|fill.?(me|in)|your.?(own.?)?(secret|token|key|password)|placeholder|example/i

/** Words that guessing starts with, and labels beside a secret. They add no entropy. */
const COMMON =
  /password|passwd|postgres|senha|secret|segredo|token|admin|operator|partner|metrics|inbound|encryption|previous|pixgate|default|letmein|welcome|sandbox|production|live|test|canary|root|user|bank|pix|key|the|of/g

/** Sequences: the alphabet with digits before it, and rows of a keyboard. */
const ROWS = ['0123456789abcdefghijklmnopqrstuvwxyz', '1234567890', 'qwertyuiop', 'asdfghjkl', 'zxcvbnm']

/**
 * Explains why a secret is too easy to guess, as the end of a sentence; `undefined` otherwise. Generated secrets are
 * never refused. Neither is made-up prose, which no count can detect.
 * @source rules#production.2
 */
export function weaknessOf(secret: string): string | undefined {
  if (PLACEHOLDER.test(secret)) return `is a placeholder of a document: ${ADVICE}`
  return estimatedBits(secret) < BITS_MIN
    ? `is too easy to guess, as it repeats, counts or names itself: ${ADVICE}`
    : undefined
}

/**
 * The same for the password in an address, which others may have chosen: refuses only placeholders and common
 * words.
 */
function passwordWeaknessOf(address: string): string | undefined {
  const password = URL.parse(address)?.password ?? ''
  if (password === '') return undefined
  const isCommon =
    password
      .toLowerCase()
      .replace(COMMON, '')
      .replace(/[\W_\d]/g, '') === ''
  return isCommon || PLACEHOLDER.test(password) ? `has a password that is easy to guess: ${ADVICE}` : undefined
}

const ADVICE = 'make one with openssl rand -hex 32'

/** Estimates the entropy of characters that do not follow from the ones before, in bits. */
function estimatedBits(secret: string): number {
  const text = secret.toLowerCase().replace(COMMON, ' ')
  const surprising = [...text].filter((character, index) => character !== ' ' && !isForeseen(text, index))
  return surprising.length * Math.log2(new Set(surprising).size || 1)
}

/** Whether a character repeats the one before, continues a sequence, or repeats three earlier ones. */
function isForeseen(text: string, index: number): boolean {
  const [character = '', before] = [text[index], text[index - 1]]
  if (character === before) return true
  const [last = '', lastButOne = ''] = distinctBefore(text, index)
  const goesOn = ROWS.some((row) => {
    const [first, second, third] = [lastButOne, last, character].map((one) => (one === '' ? -1 : row.indexOf(one)))
    if (first === undefined || second === undefined || third === undefined) return false
    return Math.min(first, second, third) >= 0 && third - second === second - first
  })
  return goesOn || (index >= 2 && text.indexOf(text.slice(index - 2, index + 1)) < index - 2)
}

function distinctBefore(text: string, end: number): string[] {
  const found: string[] = []
  for (let index = end - 1; index >= 0 && found.length < 2; index -= 1) {
    const character = text[index] ?? ''
    if (character !== found.at(-1)) found.push(character)
  }
  return found
}

/** Content of a file, or its fault as a clause that follows the name: «is no private key in PEM». */
export type ReadPem<Content> = { readonly content: Content } | { readonly fault: string }

export interface Certificates {
  readonly pem: string
  readonly all: readonly [X509Certificate, ...X509Certificate[]]
}

export interface PrivateKey {
  readonly pem: string
  readonly key: KeyObject
}

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g

export function readCertificates(path: string): ReadPem<Certificates> {
  return readPem(path, certificatesIn)
}

/** Reads a file with a private key without a passphrase. */
export function readPrivateKey(path: string): ReadPem<PrivateKey> {
  return readPem(path, privateKeyIn)
}

/** Finds the certificates in a text and ignores the rest. */
export function certificatesIn(pem: string): ReadPem<Certificates> {
  return faultyUnless('is no certificate in PEM', () => {
    const [first, ...others] = [...pem.matchAll(CERTIFICATE)].map(([text]) => new X509Certificate(text))
    return first && { pem, all: [first, ...others] }
  })
}

/** Finds the private key in a text. @param passphrase of an encrypted key */
export function privateKeyIn(pem: string, passphrase?: string): ReadPem<PrivateKey> {
  const fault =
    passphrase === undefined
      ? 'is no private key in PEM without a passphrase'
      : 'is no private key in PEM that its passphrase opens'
  return faultyUnless(fault, () => {
    const key = createPrivateKey({ key: pem, ...(passphrase !== undefined && { passphrase }) })
    return { pem: String(key.export({ type: 'pkcs8', format: 'pem' })), key }
  })
}

function readPem<Content>(path: string, read: (pem: string) => ReadPem<Content>): ReadPem<Content> {
  let pem: string
  try {
    pem = readFileSync(path, 'utf8')
  } catch (error) {
    return { fault: `cannot be read: ${fileErrorReason(error)}` }
  }
  return read(pem)
}

function faultyUnless<Content>(fault: string, contentOf: () => Content | undefined): ReadPem<Content> {
  try {
    const content = contentOf()
    return content === undefined ? { fault } : { content }
  } catch {
    // OpenSSL's message does not help, and may contain parts of the input.
    return { fault }
  }
}

export function validityOf({ validFromDate, validToDate }: X509Certificate): { from: number; to: number } {
  return { from: validFromDate.getTime(), to: validToDate.getTime() }
}

/**
 * Explains why a certificate is not valid now, as a clause of {@link ReadPem}; `undefined` if it is.
 * @param nowMs the clock that TLS uses
 */
export function validityFault(certificate: X509Certificate, nowMs = Date.now()): string | undefined {
  const { from, to } = validityOf(certificate)
  if (nowMs >= to) return `has expired on ${dayOf(to)}`
  return nowMs < from ? `is not valid before ${dayOf(from)}` : undefined
}

export function dayOf(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 10)
}

/** A certificate chain with its key, in PEM: the key's certificate first, then the intermediates. */
export interface Pkcs12 {
  readonly certificates: string
  readonly key: string
}

/**
 * Opens PKCS#12, the form in which banks issue certificates, including the old encryption that OpenSSL 3 no longer
 * supports.
 * @param passphrase empty if there is none
 * @source rules#api-pix.10
 */
export function readPkcs12(bytes: Buffer, passphrase: string): ReadPem<Pkcs12> {
  let opened: forge.pkcs12.Pkcs12Pfx
  try {
    opened = forge.pkcs12.pkcs12FromAsn1(forge.asn1.fromDer(bytes.toString('binary')), passphrase)
  } catch (error) {
    // The library names only a wrong passphrase as the cause.
    return { fault: /MAC|password/i.test(String(error)) ? 'does not open with its passphrase' : 'is no PKCS#12' }
  }
  const [key] = [...bagsOf(opened, 'pkcs8ShroudedKeyBag'), ...bagsOf(opened, 'keyBag')].map(keyOf)
  if (key === undefined) return { fault: 'has no private key' }
  const all = bagsOf(opened, 'certBag').map(certificateOf)
  const own = all.find((pem) => new X509Certificate(pem).checkPrivateKey(createPrivateKey(key)))
  if (own === undefined) return { fault: 'has no certificate of its private key' }
  return { content: { certificates: [own, ...all.filter((pem) => pem !== own)].join(''), key } }
}

function bagsOf(opened: forge.pkcs12.Pkcs12Pfx, type: string): readonly forge.pkcs12.Bag[] {
  const bagType = forge.pki.oids[type] ?? ''
  return opened.getBags({ bagType })[bagType] ?? []
}

/** The library decodes only RSA certificates and keys, and keeps the bytes of others. */
function certificateOf({ cert, asn1 }: forge.pkcs12.Bag): string {
  return pem('CERTIFICATE', cert ? forge.pki.certificateToAsn1(cert) : asn1)
}

function keyOf({ key, asn1 }: forge.pkcs12.Bag): string {
  return pem('PRIVATE KEY', key ? forge.pki.wrapRsaPrivateKey(forge.pki.privateKeyToAsn1(key)) : asn1)
}

function pem(type: string, asn1: forge.asn1.Asn1): string {
  return forge.pem.encode({ type, body: forge.asn1.toDer(asn1).getBytes() })
}

/** Called with the variable of each previous secret that was accepted; must not throw. */
export type OnPreviousSecretUsed = (variable: string) => void

/**
 * Logs uses of a previous secret: it cannot be removed while it is used.
 * @param count counts one use
 * @source rules#rotation.2
 */
export function createPreviousSecretReports(
  logger: Logger,
  count: OnPreviousSecretUsed,
  throttle: LogThrottle = createLogThrottle(),
): OnPreviousSecretUsed {
  return (variable) => {
    count(variable)
    throttle.report(variable, (more) =>
      logger.info({ variable }, `a secret that is being replaced is used still${andMore(more)}`),
    )
  }
}
