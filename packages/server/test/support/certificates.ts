import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'

/** A key and its certificate, which is signed by itself; both also as text. */
export interface Certificate {
  readonly key: string
  readonly cert: string
  /** Of the certificate: who trusts that file trusts it. */
  readonly path: string
}

/** One of a machine of this name, which goes with the test; `undefined` without openssl. */
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
  return { key, cert, path: join(cwd, 'cert') }
}
