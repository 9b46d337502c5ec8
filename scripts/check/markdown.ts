/** A link of a document; the group is its target. */
export const LINK = /\]\(([^\s)]+)\)/g

/** A fenced block of code, whole, also in an item of a list. */
export const CODE_BLOCK = /^ *```[\s\S]*?^ *```/gm

/** The anchor that GitHub makes of a heading; where the same is made twice, it numbers the later ones. */
export function slugOf(heading: string): string {
  return heading
    .replace(/<[^>]*>/g, '')
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}_ -]/gu, '')
    .trim()
    .replaceAll(' ', '-')
}
