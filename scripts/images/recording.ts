import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { ROOT } from '../check/repository.ts'

/** A recording of `npm run demo`: an animated SVG of its lines, at the times at which they came. */

interface Line {
  readonly text: string
  readonly atMs: number
}

const COLUMNS = 104
const CELL = { width: 8, height: 16 }
const PADDING = 16
/** What takes longer is no pleasure to watch. */
const LONGEST_WAIT_MS = 1_200
const SHORTEST_WAIT_MS = 30
const HOLD_MS = 6_000

export async function recordDemo(): Promise<string> {
  const child = spawn(process.execPath, [join(ROOT, 'examples/demo.ts')], { stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = once(child, 'exit')
  const lines: Line[] = [{ text: '$ npm run demo', atMs: 0 }]
  let [shownMs, cameMs] = [600, performance.now()]
  for await (const text of createInterface({ input: child.stdout })) {
    const waitedMs = performance.now() - cameMs
    cameMs += waitedMs
    shownMs += Math.min(LONGEST_WAIT_MS, Math.max(SHORTEST_WAIT_MS, waitedMs))
    for (const part of text.match(new RegExp(`.{1,${COLUMNS}}`, 'gu')) ?? [''])
      lines.push({ text: part, atMs: shownMs })
  }
  const [code] = await ended
  if (code !== 0) throw new Error(`the demo ended with ${code}`)
  return animation(lines, shownMs + HOLD_MS)
}

function animation(lines: readonly Line[], durationMs: number): string {
  const width = COLUMNS * CELL.width + 2 * PADDING
  const height = lines.length * CELL.height + 2 * PADDING
  const appear = lines.map(({ atMs }, index) => {
    const percent = ((100 * atMs) / durationMs).toFixed(2)
    return `@keyframes l${index}{0%,${percent}%{opacity:0}${(Number(percent) + 0.01).toFixed(2)}%,100%{opacity:1}}`
  })
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="Recording of npm run demo: a charge, payouts and a refund">
<style>
text{font:13.2px ui-monospace,"SF Mono",Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:#ecefec;white-space:pre}
path{fill:#ecefec}.ok{fill:#7fd09b}
@media (prefers-reduced-motion:no-preference){g{animation:${durationMs.toFixed(0)}ms linear infinite}
${appear.map((rule, index) => `${rule}#l${index}{animation-name:l${index}}`).join('\n')}}
</style>
<rect width="100%" height="100%" rx="8" fill="#191b1a"/>
${lines.map(({ text }, index) => `<g id="l${index}">${drawn(text, PADDING + index * CELL.height)}</g>`).join('\n')}
</svg>
`
}

function drawn(text: string, top: number): string {
  if (/^[█▀▄ ]+$/u.test(text)) return `<path d="${halves(text, top)}"/>`
  const marked = escaped(text).replace(/^✔/, '<tspan class="ok">✔</tspan>')
  return `<text x="${PADDING}" y="${top + 12}" xml:space="preserve">${marked}</text>`
}

/** Blocks as rectangles, as fonts leave gaps between them. */
function halves(text: string, top: number): string {
  const half = CELL.height / 2
  const runs = (full: RegExp, y: number) =>
    [...text.matchAll(full)].map(
      ({ 0: run, index }) =>
        `M${PADDING + index * CELL.width} ${y}h${run.length * CELL.width}v${half}h${-run.length * CELL.width}z`,
    )
  return [...runs(/[█▀]+/gu, top), ...runs(/[█▄]+/gu, top + half)].join('')
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
}
