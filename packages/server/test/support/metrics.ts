import { until } from './until.ts'
import { ADMIN_TOKEN, type World } from './world.ts'

/** The value of a series, such as `pixgate_cases_open{kind="event_set_aside"}`; `undefined` where there is none. */
export type Series = (series: string) => number | undefined

/** Reads the text format of Prometheus. */
export function seriesIn(text: string): Series {
  const values = new Map<string, number>()
  for (const line of text.split('\n')) {
    const [, series, value] = /^(pixgate_.*) (\S+)$/.exec(line) ?? []
    if (series !== undefined) values.set(series, Number(value))
  }
  return (series) => values.get(series)
}

/** Scrapes a world, once what it remembers is too old. */
export async function scrape({ url, clock }: Pick<World, 'url' | 'clock'>): Promise<Series> {
  clock.advance(5_000)
  const response = await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${ADMIN_TOKEN}` } })
  return seriesIn(await response.text())
}

/** Scrapes until a series has this value. */
export async function scrapedUntil(pix: Pick<World, 'url' | 'clock'>, series: string, value: number): Promise<void> {
  await until(async () => (await scrape(pix))(series) === value)
}
