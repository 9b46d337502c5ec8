import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'

/** A key and its certificate, both as text and as files. */
export interface Certificate {
  readonly key: string
  readonly cert: string
  /** Of the certificate: who trusts that file trusts it. */
  readonly path: string
  readonly keyPath: string
}

/** An authority of a test's. */
export interface Authority extends Certificate {
  /** Makes a certificate of a machine of this name. */
  issue(name: string): Certificate
}

/** One of a machine of this name, signed by itself, which goes with the test; `undefined` without openssl. */
export function certificateOf(t: TestContext, name: string): Certificate | undefined {
  return made(t, [`req -x509 -newkey rsa:2048 -nodes -keyout key -out cert -days 2 -subj /CN=${name}`])
}

/** One of localhost that was good for a day in 2020; `undefined` without openssl. */
export function endedCertificate(t: TestContext): Certificate | undefined {
  return made(t, [
    'req -new -newkey rsa:2048 -nodes -keyout key -out request -subj /CN=localhost',
    'ca -batch -selfsign -config config -keyfile key -in request -out cert -notext -startdate 200101000000Z -enddate 200102000000Z',
  ])
}

/** An authority; `undefined` without openssl. */
export function authorityOf(t: TestContext, name: string): Authority | undefined {
  const authority = certificateOf(t, name)
  if (authority === undefined) return undefined
  return {
    ...authority,
    issue: (subject) => {
      const issued = made(t, [
        `req -new -newkey rsa:2048 -nodes -keyout key -out request -subj /CN=${subject}`,
        `x509 -req -in request -CA ${authority.path} -CAkey ${authority.keyPath} -CAcreateserial -days 2 -out cert`,
      ])
      if (issued === undefined) throw new Error('openssl made an authority, and no certificate of it')
      return issued
    },
  }
}

const CONFIG =
  '[ca]\ndefault_ca=d\n[d]\ndatabase=index\nnew_certs_dir=.\ndefault_md=sha256\nrand_serial=yes\npolicy=p\n[p]\ncommonName=supplied\n'

function made(t: TestContext, steps: readonly string[]): Certificate | undefined {
  const cwd = mkdtempSync(join(tmpdir(), 'pixgate-certificate-'))
  t.after(() => rmSync(cwd, { recursive: true }))
  writeFileSync(join(cwd, 'config'), CONFIG)
  writeFileSync(join(cwd, 'index'), '')
  try {
    for (const step of steps) execFileSync('openssl', step.split(' '), { cwd, stdio: 'ignore' })
  } catch {
    return undefined
  }
  const [key, cert] = ['key', 'cert'].map((name) => readFileSync(join(cwd, name), 'utf8')) as [string, string]
  return { key, cert, path: join(cwd, 'cert'), keyPath: join(cwd, 'key') }
}
