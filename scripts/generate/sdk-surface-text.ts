import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ROOT, readText } from '../check/repository.ts'
import { compile } from '../pack/package.ts'
import { GENERATED, type GeneratedDocument } from './document.ts'
import { surface } from './sdk-surface.ts'

export const SURFACE = 'docs/generated/sdk-surface.txt'

/** Files whose exports are public, whether or not an entry names them: types of parameters and results. */
const PUBLIC_FILES = /^generated\/(?:types|methods|operator-methods)\.d\.ts$/

/**
 * What users of the SDK rely on, a line for each name, method, field and member of a union. A line that is gone stays in the
 * text, so that the check notices it.
 */
export function sdkSurface(): GeneratedDocument {
  const lines = new Set([...writtenLines(readText(SURFACE) ?? ''), ...surfaceLines()])
  return {
    path: SURFACE,
    content: `# ${GENERATED} A line is removed by hand, with a major version.\n${[...lines].sort().join('\n')}\n`,
  }
}

/** Lines of the text that the SDK no longer has. */
export function goneLines(text = readText(SURFACE) ?? ''): string[] {
  const present = new Set(surfaceLines())
  return writtenLines(text).filter((line) => !present.has(line))
}

function writtenLines(text: string): string[] {
  return text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
}

function surfaceLines(): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'pixgate-surface-'))
  try {
    const built = join(folder, 'sdk')
    compile(join(ROOT, 'packages/sdk'), built)
    const files = new Map(
      globSync('**/*.d.ts', { cwd: join(built, 'src') }).map((path) => [
        path,
        withoutComments(readFileSync(join(built, 'src', path), 'utf8')),
      ]),
    )
    const operations = Object.entries(surface).map(
      ([id, method]) => `operation ${id}: ${typeof method === 'string' ? method : method.name}`,
    )
    return [
      ...operations,
      ...exportsOf(files),
      ...[...files].flatMap(([path, text]) => declarationsOf(path, text, files)),
    ]
  } finally {
    rmSync(folder, { recursive: true })
  }
}

const ENTRIES = ['index', 'webhooks', 'testing', 'operator']

function exportsOf(files: ReadonlyMap<string, string>): string[] {
  return ENTRIES.flatMap((entry) => {
    const name = entry === 'index' ? '@pixgate/sdk' : `@pixgate/sdk/${entry}`
    return [...namesOf(files.get(`${entry}.d.ts`) ?? '')].map((exported) => `${name} exports ${exported}`)
  })
}

/** Names that a file exports: those of its declarations and of its lists. */
function namesOf(text: string): ReadonlySet<string> {
  const listed = [...text.matchAll(/^export (?:type )?\{([^}]*)\}/gm)].flatMap(([, names = '']) => names.split(','))
  const declared = [...text.matchAll(/^export (?:declare )?(class|interface|type|const|function) (\w+)/gm)].map(
    ([, , name = '']) => name,
  )
  return new Set([...listed.map((name) => name.replace('type ', '').trim()).filter((name) => name !== ''), ...declared])
}

const DECLARATION = /^(?:export )?(?:declare )?(class|interface|type|const|function) (\w+)/gm

/** What an exported type consists of, under names of its own. */
const PARTS_OF_PUBLIC = ['Failure', 'Always']

/** A line for each member of a public declaration. */
function declarationsOf(path: string, text: string, files: ReadonlyMap<string, string>): string[] {
  const named = new Set(ENTRIES.flatMap((entry) => [...namesOf(files.get(`${entry}.d.ts`) ?? '')]))
  const isPublic = (name: string) => PUBLIC_FILES.test(path) || named.has(name) || PARTS_OF_PUBLIC.includes(name)
  const client = path.startsWith('generated/operator-') ? 'operator ' : ''
  return text.split(/^(?=(?:export |declare |interface |type ))/m).flatMap((declaration) => {
    const [[, kind = '', name = ''] = []] = declaration.matchAll(DECLARATION)
    if (name === '' || !isPublic(name)) return []
    const [head = '', ...members] = declaration.trimEnd().replace(/\n\}$/, '').split('\n')
    if (kind === 'type') return unionOf(declaration).map((member) => `${client}${name} is ${member}`)
    if (kind !== 'class' && kind !== 'interface') return [oneLine(declaration)]
    const extended = / extends ([\w<>, .]+) \{/.exec(head)?.[1]
    return [
      ...(extended ? [`${client}${name} extends ${extended}`] : []),
      ...membersOf(members).map((member) => `${client}${name} has ${member}`),
    ]
  })
}

/** Members at the first level, each on one line. */
function membersOf(lines: readonly string[]): string[] {
  return lines
    .join('\n')
    .split(/\n(?= {4}\S)(?! {4}[}\])])/)
    .map(oneLine)
    .filter((member) => !/^(?:protected|private|#|constructor\(transport|\}|$)/.test(member))
}

/** The members of an alias at its first level. */
function unionOf(declaration: string): string[] {
  const text = oneLine(declaration).replace(/^export (?:declare )?type \w+(?:<.*?>)? = /, '')
  return /[{(<]/.test(text) ? [text] : text.split(' | ')
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').replace(/;$/, '').trim()
}

function withoutComments(text: string): string {
  return text.replaceAll(/ *\/\*\*[\s\S]*?\*\/\n/g, '')
}
