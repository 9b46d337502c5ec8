import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { Target } from '../../packages/server/test/fuzz/campaign.ts'
import { APPROVED_REAIS } from '../../packages/server/test/fuzz/prepare.ts'

/** A sandbox with its own database and bank, as the target of fuzzing. */
export interface Sandbox extends Target {
  /** Log lines that must not occur: failures, secrets and personal data. */
  readonly suspiciousLines: readonly string[]
  /** Rejects when it ends without being stopped. */
  readonly lost: Promise<never>
  readonly stop: () => Promise<void>
}

const PROGRAM = fileURLToPath(new URL('../../packages/sandbox/src/main.ts', import.meta.url))

/** @throws Error if it does not start */
export async function startSandbox(): Promise<Sandbox> {
  const directory = await mkdtemp(join(tmpdir(), 'pixgate-fuzz-'))
  // If root runs this, PostgreSQL runs as another user, who needs access.
  await chmod(directory, 0o711)
  const secret = () => randomBytes(32).toString('base64url')
  const secrets = { adminToken: secret(), partnerSecret: secret(), partnerToken: secret(), encryptionKey: secret() }
  const receiver = createServer((request, response) => request.resume().on('end', () => response.end()))
  receiver.listen(0, '127.0.0.1')
  const server = spawn(process.execPath, [PROGRAM], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      PORT: '0',
      PIXGATE_SIMULATOR_PORT: '0',
      PIXGATE_DATA_DIR: directory,
      PIXGATE_RATE_LIMIT_PER_MINUTE: '0',
      // Each request has its own address, because wrong tokens are counted by address.
      PIXGATE_TRUST_PROXY: '127.0.0.1',
      PIXGATE_APPROVAL_FROM_CENTS: String(APPROVED_REAIS * 100),
      PIXGATE_ADMIN_TOKEN: secrets.adminToken,
      PIXGATE_ENCRYPTION_KEY: secrets.encryptionKey,
      PIXGATE_PARTNER_TOKEN: secrets.partnerToken,
      PIXGATE_PARTNER_SECRET: secrets.partnerSecret,
    },
  })
  const exited = once(server, 'exit')
  const lost = exited.then(([code, signal]) => Promise.reject(new Error(`the sandbox ended: ${code ?? signal}`)))
  const stop = async () => {
    lost.catch(() => undefined)
    server.kill()
    await exited
    receiver.close()
    receiver.closeAllConnections()
    await rm(directory, { recursive: true, force: true })
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop().then(() => process.exit(1)))
  const { port, suspiciousLines } = await Promise.race([watchLog(server, Object.values(secrets)), lost])
  return {
    port,
    suspiciousLines,
    lost,
    adminToken: secrets.adminToken,
    partnerSecret: secrets.partnerSecret,
    receiverUrl: `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`,
    secrets: Object.values(secrets),
    stop,
  }
}

/** Maximum of kept lines. */
const LINES_MAX = 20

/** Resolves when the log says `ready`. */
function watchLog(
  { stdout }: ChildProcess,
  secrets: readonly string[],
): Promise<{ readonly port: number; readonly suspiciousLines: readonly string[] }> {
  const suspiciousLines: string[] = []
  return new Promise((resolve) => {
    if (stdout === null) return
    createInterface({ input: stdout }).on('line', (line) => {
      if (line.includes('"msg":"ready"')) resolve({ port: JSON.parse(line).port, suspiciousLines })
      if (suspiciousLines.length < LINES_MAX && isSuspicious(line, secrets)) suspiciousLines.push(line)
    })
  })
}

/** Documents in requests, and keys in answers. */
const PERSONAL = /52998224725|529\.982\.247-25|11222333000181|pix_test_[0-9A-Za-z]{49}/

/** Error lines about faults of the bank or of receivers. */
const OF_OTHERS =
  /"msg":"(?:an event of the bank |case opened; operator action required|the breaker opened|A delivery was given up)/

function isSuspicious(line: string, secrets: readonly string[]): boolean {
  if (PERSONAL.test(line) || secrets.some((secret) => line.includes(secret))) return true
  return /"level":"(?:error|fatal)"/.test(line) && !OF_OTHERS.test(line)
}
