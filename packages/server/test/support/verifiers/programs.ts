import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const GUIDE = new URL('../../../../../docs/guides/webhook-receiver.md', import.meta.url)

/** What a verifier is asked: whether a request is believed under a key, at a time. */
export interface VerifierCase {
  readonly name: string
  readonly scheme: 'standard' | 'ecdsa'
  /** `whsec_…`, or a PEM. */
  readonly key: string
  /** By their names in small letters. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
  /** Seconds since the epoch. */
  readonly now: number
  readonly isValid: boolean
}

/** A verifier of the receiver's guide, and how it is run. */
export interface VerifierProgram {
  /** The heading that it stands under. */
  readonly heading: string
  /** The file of the folder that is made of it, and what stands beside it in this folder. */
  readonly file: string
  readonly beside: readonly string[]
  /** Ends with 0 where what it needs is installed. */
  readonly needs: readonly string[]
  /** Prints `true` or `false` for each line of the file `cases`. */
  readonly commands: readonly (readonly string[])[]
}

/** All of them. */
export const verifierPrograms: readonly VerifierProgram[] = [
  {
    heading: 'Node.js',
    file: 'verifier.mjs',
    beside: ['main.mjs'],
    needs: [process.execPath, '--version'],
    commands: [[process.execPath, 'main.mjs']],
  },
  {
    heading: 'Python',
    file: 'verifier.py',
    beside: ['main.py'],
    needs: ['python3', '-c', 'import cryptography, sys; assert sys.version_info >= (3, 9)'],
    commands: [['python3', 'main.py']],
  },
  {
    heading: 'Java',
    file: 'PixgateSignatures.java',
    beside: ['Main.java'],
    needs: ['javac', '-version'],
    commands: [
      ['javac', 'PixgateSignatures.java', 'Main.java'],
      ['java', '-cp', '.', 'Main'],
    ],
  },
  {
    heading: 'Go',
    file: 'pixgate/verifier.go',
    beside: ['main.go', 'go.mod'],
    needs: ['go', 'version'],
    commands: [['go', 'run', '.']],
  },
  { heading: 'PHP', file: 'verifier.php', beside: ['main.php'], needs: ['php', '-v'], commands: [['php', 'main.php']] },
  {
    heading: 'OpenSSL',
    file: 'verifier.sh',
    beside: ['main.sh'],
    needs: ['openssl', 'version'],
    commands: [['sh', '-eu', 'main.sh']],
  },
]

/** Whether what a program needs is installed here. */
export async function isInstalled({ needs: [tool = '', ...options] }: VerifierProgram): Promise<boolean> {
  return run(tool, options).then(
    () => true,
    () => false,
  )
}

const run = promisify(execFile)

/** The one block of code under a heading of the guide, as it stands there. */
export function snippetOf(heading: string): string {
  const [, section = ''] = readFileSync(GUIDE, 'utf8').split(`\n### ${heading}\n`)
  const [text = ''] = section.split(/\n##+ /)
  const blocks = [...text.matchAll(/^```\w+\n([\s\S]*?)^```$/gm)].map(([, code = '']) => code)
  if (blocks.length !== 1) throw new Error(`under «${heading}» stand ${blocks.length} blocks of code`)
  return blocks[0] ?? ''
}

/** @returns of each case, in order, whether the verifier of the guide believed it */
export async function verdictsOf(program: VerifierProgram, cases: readonly VerifierCase[]): Promise<boolean[]> {
  const folder = await mkdtemp(join(tmpdir(), 'pixgate-verifier-'))
  try {
    const file = join(folder, program.file)
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, snippetOf(program.heading))
    for (const name of program.beside) {
      await cp(fileURLToPath(new URL(`./${name}.txt`, import.meta.url)), join(folder, name))
    }
    await writeFile(join(folder, 'cases'), cases.map((one) => `${lineOf(one)}\n`).join(''))
    const environment = { ...process.env, GOPROXY: 'off', GOTOOLCHAIN: 'local', GOFLAGS: '' }
    let printed = ''
    for (const [tool = '', ...options] of program.commands) {
      printed = (await run(tool, options, { cwd: folder, env: environment })).stdout
    }
    return printed
      .trim()
      .split('\n')
      .map((line) => line === 'true')
  } finally {
    await rm(folder, { recursive: true })
  }
}

/** Fields in Base64 with a letter before each, so that none is empty. What no header has is empty. */
function lineOf({ scheme, key, headers, now, body }: VerifierCase): string {
  const named = ['webhook-id', 'webhook-timestamp', 'webhook-signature', 'digital-signature'].map(
    (name) => headers[name] ?? '',
  )
  const fields = [scheme, key, ...named, String(now), body]
  return fields.map((field) => `b${Buffer.from(field).toString('base64')}`).join(' ')
}
