/** A flame graph as one SVG that any browser opens: what calls is below, what takes time itself is on top. */

interface Frame {
  readonly name: string
  us: number
  readonly above: Map<string, Frame>
}

const WIDTH = 1_800
const ROW = 16
/** Narrower ones are left out: nobody sees them. */
const NARROWEST = 0.5
/** Of a monospaced letter. */
const LETTER = 6.2

/** @param stacks microseconds by functions, from the outermost on, with `;` in between */
export function flameGraph(stacks: ReadonlyMap<string, number>): string {
  const root: Frame = { name: 'all', us: 0, above: new Map() }
  for (const [stack, us] of stacks) addStack(root, stack.split(';'), us)
  const boxes: string[] = []
  const rows = rowsOf(root)
  draw(root, { left: 0, row: 0, rows, pixelsPerUs: WIDTH / root.us, totalUs: root.us }, boxes)
  const height = rows * ROW
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" font-family="monospace" font-size="10">
<rect width="100%" height="100%" fill="#fff"/>
${boxes.join('\n')}
</svg>
`
}

function addStack(root: Frame, names: readonly string[], us: number): void {
  root.us += us
  let frame = root
  for (const name of names) {
    const above = frame.above.get(name) ?? { name, us: 0, above: new Map() }
    above.us += us
    frame.above.set(name, above)
    frame = above
  }
}

function rowsOf({ above }: Frame): number {
  return 1 + Math.max(0, ...[...above.values()].map(rowsOf))
}

interface Place {
  readonly left: number
  readonly row: number
  readonly rows: number
  readonly pixelsPerUs: number
  readonly totalUs: number
}

function draw({ name, us, above }: Frame, place: Place, boxes: string[]): void {
  const { left, row, rows, pixelsPerUs, totalUs } = place
  const width = us * pixelsPerUs
  if (width < NARROWEST) return
  const y = (rows - row - 1) * ROW
  const label = escaped(name.slice(0, Math.max(0, Math.floor(width / LETTER))))
  const title = `${escaped(name)} ${((us / totalUs) * 100).toFixed(1)} %`
  boxes.push(
    `<g><title>${title}</title><rect x="${left.toFixed(1)}" y="${y}" width="${width.toFixed(1)}" height="${ROW - 1}" fill="${colorOf(name)}"/><text x="${(left + 2).toFixed(1)}" y="${y + 11}">${label}</text></g>`,
  )
  let next = left
  for (const frame of [...above.values()].toSorted((one, other) => other.us - one.us)) {
    draw(frame, { ...place, left: next, row: row + 1 }, boxes)
    next += frame.us * pixelsPerUs
  }
}

/** Functions of the same file have the same color. */
function colorOf(name: string): string {
  const file = name.split(' ').at(-1)?.split(':')[0] ?? ''
  const hue = [...file].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) % 360, 7)
  return `hsl(${hue},70%,75%)`
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
