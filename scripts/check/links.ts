import { posix } from 'node:path'
import type { Check } from './check.ts'
import { CODE_BLOCK, LINK, slugOf } from './markdown.ts'
import { repositoryFiles, repositoryPaths, type SourceFile } from './repository.ts'

const CODE = /```[\s\S]*?```|`[^`\n]*`/g

/** Relative links without a target file, folder or anchor. */
export function linkProblems(documents: readonly SourceFile[], paths: readonly string[]): string[] {
  const anchors = new Map(documents.map(({ path, text }) => [path, anchorsIn(text)]))
  const places = new Set(paths.flatMap(withFolders))
  return documents.flatMap(({ path, text }) =>
    linksIn(text)
      .filter(({ target }) => !/^[a-z]+:/.test(target))
      .flatMap(({ target, line }) => {
        const [file = '', anchor] = target.split('#')
        const named = file === '' ? path : posix.join(posix.dirname(path), file).replace(/\/$/, '')
        if (!places.has(named)) return [`${path}:${line} links ${target}, which does not exist`]
        const isFound = anchor === undefined || anchors.get(named)?.has(anchor)
        return isFound ? [] : [`${path}:${line} links ${target}: ${named} has no such anchor`]
      }),
  )
}

export const links: Check = {
  name: 'links',
  run: async () => linkProblems(repositoryFiles(/\.md$/), repositoryPaths()),
}

/** Links of a document outside of code, with their lines. */
function linksIn(text: string): { readonly target: string; readonly line: number }[] {
  return blanked(text)
    .split('\n')
    .flatMap((line, index) => [...line.matchAll(LINK)].map(([, target = '']) => ({ target, line: index + 1 })))
}

/** Anchors of a document: explicit ones, and those that GitHub derives from headings. */
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

/** The text with blanked code and the same lines. */
function blanked(text: string): string {
  return text.replace(CODE, (code) => code.replace(/[^\n]/g, ' '))
}

/** A path and the folders above it: `a/b.md` and `a`. */
function withFolders(path: string): string[] {
  const parts = path.split('/')
  return parts.map((_, index) => parts.slice(0, index + 1).join('/'))
}
