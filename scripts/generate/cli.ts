import { STORIES } from '../../packages/cli/src/commands/trigger.ts'
import { overview } from '../../packages/cli/src/help.ts'
import { commands } from '../../packages/cli/src/index.ts'
import { readText } from '../check/repository.ts'
import type { GeneratedDocument } from './document.ts'

/** Parts of the guide between comments that name them, the same in both languages. */
const PARTS: Readonly<Record<string, string>> = {
  commands: overview(commands),
  stories: Object.entries(STORIES)
    .map(([story, { says }]) => `${story.padEnd(24)}${says}`)
    .join('\n'),
}

/** The guide of the command line: written by hand, with lists that are made of the tables. */
export function cliGuides(): GeneratedDocument[] {
  return ['docs/guides/cli.md', 'docs/guides/cli.pt-BR.md'].map((path) => ({
    path,
    content: filled(readText(path) ?? ''),
  }))
}

function filled(text: string): string {
  return text.replaceAll(
    /(<!-- generated: (\w+) -->\n)[\s\S]*?(<!-- end -->)/g,
    (_, begin, name, end) => `${begin}\n\`\`\`text\n${PARTS[name]}\n\`\`\`\n\n${end}`,
  )
}
