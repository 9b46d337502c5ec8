import type { Check } from './check.ts'
import { CODE_BLOCK, LINK, slugOf } from './markdown.ts'
import { repositoryFiles, type SourceFile } from './repository.ts'

/** Documents with a Portuguese version: `README.md` and `README.pt-BR.md`. */
const TRANSLATED = [
  'README.md',
  'docs/guides/bank-simulator.md',
  'docs/guides/banks.md',
  'docs/guides/cli.md',
  'docs/guides/high-availability.md',
  'docs/guides/operator.md',
  'docs/guides/privacy.md',
  'docs/guides/rotation.md',
  'docs/guides/sdk.md',
  'docs/guides/webhook-receiver.md',
  'docs/generated/errors.md',
] as const

/** A heading with its text. */
interface Section {
  readonly level: number
  readonly anchor: string
  readonly text: string
}

/**
 * Differences between translation and original: headings, their order and anchors, and below each heading code blocks, inline
 * code and links.
 */
export function translationProblems(originals: readonly string[], documents: readonly SourceFile[]): string[] {
  const texts = new Map(documents.map(({ path, text }) => [path, text]))
  return originals.flatMap((path) => {
    const translation = path.replace(/\.md$/, '.pt-BR.md')
    const [text, translated] = [texts.get(path), texts.get(translation)]
    if (text === undefined || translated === undefined) return [`${path} and ${translation} must both exist`]
    return differences(sectionsOf(text), sectionsOf(translated)).map((problem) => `${translation}: ${problem}`)
  })
}

export const translations: Check = {
  name: 'translations',
  run: async () => translationProblems(TRANSLATED, repositoryFiles(/\.md$/)),
}

function differences(original: readonly Section[], translated: readonly Section[]): string[] {
  const outline = (sections: readonly Section[]) =>
    sections.map(({ level, anchor }) => `${'#'.repeat(level)} ${anchor}`)
  const [expected, found] = [outline(original), outline(translated)]
  const place = expected.findIndex((heading, index) => heading !== found[index])
  if (place >= 0) return [`the heading «${expected[place]}» is expected where «${found[place] ?? 'nothing'}» stands`]
  if (found.length > expected.length) return [`the heading «${found[expected.length]}» is not in the original`]
  return original.flatMap((section, index) => sectionDifferences(section, translated[index]?.text ?? ''))
}

function sectionDifferences({ anchor, text }: Section, translated: string): string[] {
  const compared = [
    ['blocks of code', blocksOf],
    ['code in sentences', codeOf],
    ['links', linksOf],
  ] as const
  return compared.flatMap(([what, of]) => {
    const [expected, found] = [of(text), of(translated)]
    if (expected.join('\n') === found.join('\n')) return []
    const lacking = expected.filter((item) => !found.includes(item))
    const unexpected = found.filter((item) => !expected.includes(item))
    return [`«${anchor}» differs in its ${what}; lacking: ${shown(lacking)}; not in the original: ${shown(unexpected)}`]
  })
}

/** Sections of a document. The title's anchor is not compared, since the title is translated. */
function sectionsOf(text: string): Section[] {
  const blocks: string[] = []
  // A comment in a shell script is no heading.
  const outside = text.replace(CODE_BLOCK, (block) => `\0${blocks.push(block) - 1}\0`)
  const restored = (part: string) => part.replace(/\0(\d+)\0/g, (_, index) => blocks[Number(index)] ?? '')
  return outside
    .split(/^(?=#{1,6} )/m)
    .filter((part) => part.startsWith('#'))
    .map((part) => {
      const [heading = '', ...lines] = part.split('\n')
      const level = heading.indexOf(' ')
      return {
        level,
        anchor: level === 1 ? 'title' : anchorOf(heading.slice(level + 1)),
        text: restored(lines.join('\n')),
      }
    })
}

/** The explicit anchor of a heading, or the one that GitHub derives. */
function anchorOf(heading: string): string {
  return /^<a id="([^"]+)"><\/a>/.exec(heading)?.[1] ?? slugOf(heading)
}

/** Blocks with a language; drawings have none and are translated. */
function blocksOf(text: string): string[] {
  return [...text.matchAll(CODE_BLOCK)].map(([block]) => block).filter((block) => /^ *```\w/.test(block))
}

function codeOf(text: string): string[] {
  const spans = text.replace(CODE_BLOCK, '').match(/`[^`]+`/g) ?? []
  // Lines may break at other places.
  return inOrder(spans.map((span) => span.replace(/\s+/g, ' ')))
}

/** Link targets; an original and its translation are the same target. */
function linksOf(text: string): string[] {
  const targets = [...text.replace(CODE_BLOCK, '').matchAll(LINK)].map(([, target = '']) => target)
  return inOrder(targets.map((target) => target.replace('.pt-BR.md', '.md')))
}

/** Unique and sorted, since word order differs between languages. */
function inOrder(items: readonly string[]): string[] {
  return [...new Set(items)].sort()
}

function shown(items: readonly string[]): string {
  return items.length === 0 ? 'nothing' : items.map((item) => item.split('\n').slice(0, 2).join(' ')).join(', ')
}
