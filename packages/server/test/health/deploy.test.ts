import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import test from 'node:test'
import { Registry } from 'prom-client'
import { createCounted } from '../../src/health/counted.ts'
import { createMeasured, type Measured } from '../../src/health/measured.ts'

/** Labels that Prometheus adds to whatever it scrapes. */
const OF_PROMETHEUS = ['instance', 'job']

/** Every series that the service exports, by its name in a query, with its labels. */
function exported(): Map<string, ReadonlySet<string>> {
  const registry = new Registry()
  createCounted(registry)
  createMeasured(registry, {} as Measured, { now: () => 0 })
  const series = new Map<string, ReadonlySet<string>>()
  for (const metric of registry.getMetricsAsArray()) {
    const { name, type, labelNames } = metric as unknown as { name: string; type: string; labelNames: string[] }
    const labels = new Set([...labelNames, ...OF_PROMETHEUS])
    if (type !== 'histogram') series.set(name, labels)
    else {
      series.set(`${name}_bucket`, new Set([...labels, 'le']))
      for (const part of ['sum', 'count']) series.set(`${name}_${part}`, labels)
    }
  }
  return series
}

interface Panel {
  readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[]
}

/** What is asked of Prometheus, each with the template of its legend. */
async function queries(): Promise<{ dashboard: string[][]; alerts: string[][] }> {
  const read = (path: string) => readFile(new URL(`../../../../deploy/${path}`, import.meta.url), 'utf8')
  const { panels } = JSON.parse(await read('grafana/pixgate.json')) as { panels: readonly Panel[] }
  const rules = (await read('prometheus/alerts.yml')).split(/^ +- alert: /m).slice(1)
  return {
    dashboard: panels.flatMap(({ targets = [] }) => targets.map(({ expr, legendFormat }) => [expr, legendFormat])),
    alerts: rules.map((rule) => [/^ +expr: (.+)$/m.exec(rule)?.[1] ?? '', /summary: (.+)$/m.exec(rule)?.[1] ?? '']),
  }
}

/** What a query and its legend name that is not exported. */
function unknownIn([query = '', legend = '']: readonly string[], series: ReturnType<typeof exported>): string[] {
  const named = [...query.matchAll(/\b(pixgate_\w+)(?:\{([^}]*)\})?/g)]
  const unknown = named.filter(([, name = '']) => !series.has(name)).map(([, name = '']) => name)
  const known = named.map(([, name = '']) => series.get(name) ?? new Set<string>())
  for (const [index, [, , matchers = '']] of named.entries()) {
    for (const [, label = ''] of matchers.matchAll(/(\w+)(?==~?"|!=)/g)) {
      if (!known[index]?.has(label)) unknown.push(label)
    }
  }
  const grouped = [...query.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, labels = '']) => labels.split(', '))
  const shown = [...legend.matchAll(/\{\{ ?(?:\$labels\.)?(\w+) ?\}\}/g)].map(([, label = '']) => label)
  return [...unknown, ...[...grouped, ...shown].filter((label) => !known.every((labels) => labels.has(label)))]
}

test('[metrics.5] the dashboard and the alerts name nothing but what the service exports', async () => {
  const series = exported()
  const { dashboard, alerts } = await queries()
  assert.ok(dashboard.length > 25 && alerts.length > 18)
  for (const query of [...dashboard, ...alerts]) assert.deepEqual(unknownIn(query, series), [], query.join(' · '))
  // The test sees what there is to see.
  assert.deepEqual(unknownIn(['sum by (id) (pixgate_operations{of="a"}) + pixgate_gone'], series), [
    'pixgate_gone',
    'of',
    'id',
  ])
})

test('[metrics.5] whatever the service exports is on the dashboard', async () => {
  const shown = (await queries()).dashboard.join(' ')
  const names = [...exported().keys()].map((name) => name.replace(/_(?:bucket|sum|count)$/, ''))
  assert.deepEqual(
    names.filter((name) => !shown.includes(name)),
    [],
  )
})

test('[metrics.1] names have the prefix, base units and the suffix that Prometheus asks for', () => {
  const registry = new Registry()
  createCounted(registry)
  createMeasured(registry, {} as Measured, { now: () => 0 })
  for (const metric of registry.getMetricsAsArray()) {
    const { name, type } = metric as unknown as { name: string; type: string }
    assert.match(name, /^pixgate_[a-z_]+$/)
    assert.equal(name.endsWith('_total'), type === 'counter', name)
    assert.doesNotMatch(name, /_(?:ms|millis|minutes|kb)\b/)
    if (/duration|wait_|age|delay/.test(name)) assert.match(name, /_seconds$/)
  }
})
