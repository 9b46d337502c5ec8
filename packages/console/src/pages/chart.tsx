import type { Overview } from '../api.ts'
import { reais } from '../format.ts'
import { Amount, Table, When } from '../ui/data.tsx'
import { useFormat, useWords } from '../words/words.tsx'
import css from './chart.module.css'

/** Money in and out by hour: bars above and below a line, with a table for those who read figures. */

const HEIGHT = 96
const GAP = 2
const WIDTH = 24

interface Flow {
  readonly hours: Overview['hours']
}

export function FlowChart({ hours }: Flow) {
  const words = useWords()
  const format = useFormat()
  if (hours.length === 0) return null
  return (
    <figure className={css.chart}>
      <figcaption>
        <span>{words.overview.hours}</span>
        <span className={css.key}>
          <span data-flow="in" /> {words.overview.figures.in}
          <span data-flow="out" /> {words.overview.figures.out}
        </span>
      </figcaption>
      <Bars hours={hours} />
      <div className={css.axis} aria-hidden="true">
        <span>{format.hour(hours[0]?.at ?? '')}</span>
        <span>{format.hour(hours[hours.length >> 1]?.at ?? '')}</span>
        <span>{format.hour(hours.at(-1)?.at ?? '')}</span>
      </div>
      {hours.some(({ inCents, outCents }) => inCents + outCents > 0) && <Figures hours={hours} />}
    </figure>
  )
}

function Bars({ hours }: Flow) {
  const format = useFormat()
  const most = Math.max(1, ...hours.flatMap(({ inCents, outCents }) => [inCents, outCents]))
  const length = (cents: number) => (cents === 0 ? 0 : Math.max(2, (cents / most) * (HEIGHT / 2 - 4)))
  return (
    <svg viewBox={`0 0 ${hours.length * WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
      {hours.map(({ at, inCents, outCents }, index) => (
        <g key={at}>
          <title>{`${format.hour(at)}: +${reais(inCents)}, −${reais(outCents)}`}</title>
          <rect className={css.hit} x={index * WIDTH} y={0} width={WIDTH} height={HEIGHT} />
          <rect
            className={css.in}
            x={index * WIDTH + GAP}
            width={WIDTH - 2 * GAP}
            y={HEIGHT / 2 - length(inCents)}
            height={length(inCents)}
          />
          <rect
            className={css.out}
            x={index * WIDTH + GAP}
            width={WIDTH - 2 * GAP}
            y={HEIGHT / 2 + 1}
            height={length(outCents)}
          />
        </g>
      ))}
      <line x1={0} x2={hours.length * WIDTH} y1={HEIGHT / 2 + 0.5} y2={HEIGHT / 2 + 0.5} />
    </svg>
  )
}

function Figures({ hours }: Flow) {
  const words = useWords()
  return (
    <details>
      <summary>{words.overview.asTable}</summary>
      <Table
        caption={words.overview.hours}
        columns={[[words.hour], [words.overview.figures.in, 'end'], [words.overview.figures.out, 'end']]}
      >
        {hours
          .filter(({ inCents, outCents }) => inCents + outCents > 0)
          .map(({ at, inCents, outCents }) => (
            <tr key={at}>
              <td>
                <When at={at} as="moment" />
              </td>
              <td data-kind="end">
                <Amount cents={inCents} />
              </td>
              <td data-kind="end">
                <Amount cents={outCents} />
              </td>
            </tr>
          ))}
      </Table>
    </details>
  )
}
