import { posix } from 'node:path'
import type { Check } from './check.ts'
import { CODE_BLOCK, LINK, slugOf } from './markdown.ts'
import { repositoryFiles, repositoryPaths, type SourceFile } from './repository.ts'

const CODE = /```[\s\S]*?```|`[^`\n]*`/g

/** Relative links that lead to no file or folder of the repository, or to an anchor that its document does not have. */
export function linkProblems(documents: readonly SourceFile[], paths: readonly string[]): string[] {
  const anchors = new Map(documents.map(({ path, text }) => [path, anchorsIn(text)]))
  const places = new Set(paths.flatMap(withFolders))
  return documents.flatMap(({ path, text }) =>
    linksIn(text)
      .filter(({ target }) => !/^[a-z]+:/.test(target))
      .flatMap(({ target, line }) => {
        const [file = '', anchor] = target.split('#')
        const named = file === '' ? path : posix.join(posix.dirname(path), file).replace(/\/$/, '')
        if (!places.has(named)) return [`${path}:${line} links ${target}, which is not there`]
        const isFound = anchor === undefined || anchors.get(named)?.has(anchor)
        return isFound ? [] : [`${path}:${line} links ${target}: ${named} has no such anchor`]
      }),
  )
}

/** The check over all documents, the generated ones too. */
export const links: Check = {
  name: 'links',
  run: async () => linkProblems(repositoryFiles(/\.md$/), repositoryPaths()),
}

/** The links of a document outside of its code, with the line on which each stands. */
function linksIn(text: string): { readonly target: string; readonly line: number }[] {
  return blanked(text)
    .split('\n')
    .flatMap((line, index) => [...line.matchAll(LINK)].map(([, target = '']) => ({ target, line: index + 1 })))
}

/** What a link may name in a document: anchors that are written, and those that GitHub makes of headings. */
function anchorsIn(text: string): Set<string> {
  const written = [...text.matchAll(/<a id="([^"]+)">/g)].map(([, id = '']) => id)
  const headings = text.replace(CODE_BLOCK, '').matchAll(/^#{1,6} +(.+)$/gm)
  const slugs: string[] = []
  for (const [, heading = ''] of headings) {
    const slug = slugOf(heading)
    const repeated = slugs.filter((other) => other === slug).length
    slugs.push(slug)
    written.push(repeated === 0 ? slug : `${slug}-${repeated}`)
  }
  return new Set(written)
}

/** The text with its code emptied and every line where it was. */
function blanked(text: string): string {
  return text.replace(CODE, (code) => code.replace(/[^\n]/g, ' '))
}

/** A path and the folders above it: `a/b.md` and `a`. */
function withFolders(path: string): string[] {
  const parts = path.split('/')
  return parts.map((_, index) => parts.slice(0, index + 1).join('/'))
}
