import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '../../check/repository.ts'

/** The operator's guide, whose lines these tests run. */
const GUIDE = 'docs/guides/operator.md'

/**
 * The blocks of code of one language under a heading of the guide, or of another document, up to the next heading of its level.
 * @throws Error where there is no such heading
 */
export function blocksOf(heading: string, language: string, document = GUIDE): string[] {
  const [, section] = readFileSync(join(ROOT, document), 'utf8').split(`\n## ${heading}\n`)
  if (section === undefined) throw new Error(`${document} has no heading «${heading}»`)
  const [text = ''] = section.split('\n## ')
  return [...text.matchAll(new RegExp(`^( *)\`\`\`${language}\\n([\\s\\S]*?)^ *\`\`\`$`, 'gm'))].map(
    ([, indent = '', code = '']) => code.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
  )
}
