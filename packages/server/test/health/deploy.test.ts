import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import test from 'node:test'
import { cashIn, cashOut, endpointStates, refundIn, serviceEndpoints } from '@pixgate/spec'
import { Registry } from 'prom-client'
import { parse } from 'yaml'
import { REFUSAL_REASONS } from '../../src/access/refusals.ts'
import { alertWebhookKinds } from '../../src/alerts/settings.ts'
import type { BreakerName } from '../../src/banks/breaker.ts'
import type { RefusedCall } from '../../src/banks/calls.ts'
import { CERTIFICATE_OWNERS } from '../../src/banks/certificates.ts'
import {
  BREAKER_STATES,
  CALLBACK_ORIGINS,
  createCounted,
  createMeasured,
  EVENT_OUTCOMES,
  type Measured,
} from '../../src/health/metrics.ts'

/** Labels that Prometheus adds to whatever it scrapes. */
const OF_PROMETHEUS = ['instance', 'job']

/** The words of a query that are no series, and the one series that Prometheus makes itself. */
const WORDS = new Set(
  'sum max min rate increase histogram_quantile time absent abs min_over_time by on or and unless up'.split(' '),
)

/** The values that a query may compare a label with. */
const VALUES: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  up: { job: ['pixgate'] },
  pixgate_operations: { kind: ['cash_in', 'cash_out', 'refund_in'], state: statesOf(cashIn, cashOut, refundIn) },
  pixgate_orders_suspended: { kind: ['operator', 'trip_wire', 'restored'] },
  pixgate_work_late: { kind: ['event', 'notification', 'delivery', 'cash_in', 'cash_out', 'refund_in'] },
  pixgate_bank_call_duration_seconds: { outcome: ['unauthorized', 'rate_limited'] satisfies RefusedCall[] },
  pixgate_bank_certificate_expires_timestamp_seconds: { owner: CERTIFICATE_OWNERS },
  pixgate_bank_breaker_state: {
    breaker: ['orders', 'charges', 'qr_codes'] satisfies BreakerName[],
    state: BREAKER_STATES,
  },
  pixgate_inbox_callbacks: { origin: CALLBACK_ORIGINS },
  pixgate_inbox_outcomes: { outcome: EVENT_OUTCOMES },
  pixgate_deliveries: { state: ['pending', 'to_fan_out'] },
  pixgate_endpoints: { state: endpointStates },
  pixgate_alert_attempts: { channel: ['email', ...alertWebhookKinds], outcome: ['sent', 'failed', 'given_up'] },
  pixgate_deliveries_ended: { state: ['delivered', 'failed'] },
  pixgate_http_request_duration_seconds: {
    status_class: ['1xx', '2xx', '3xx', '4xx', '5xx'],
    route: Object.values(serviceEndpoints).map(({ path }) => path),
  },
  pixgate_credentials_refused: {
    credential: Object.keys(REFUSAL_REASONS),
    reason: Object.values(REFUSAL_REASONS).flat(),
  },
  pixgate_event_loop_delay_seconds: { within: ['p50', 'p99', 'max'] },
}

function statesOf(...machines: readonly { readonly states: readonly string[] }[]): string[] {
  return machines.flatMap(({ states }) => states)
}

/** What is exported, in the state in which nothing has happened. */
function metrics(): readonly { name: string; type: string; labelNames: string[] }[] {
  const registry = new Registry()
  createCounted(registry, [])
  createMeasured(registry, {} as Measured, { now: () => 0, skewMs: () => 0 })
  return registry.getMetricsAsArray() as unknown as { name: string; type: string; labelNames: string[] }[]
}

/** Every series that the service exports, by its name in a query, with its labels. */
function exported(): Map<string, ReadonlySet<string>> {
  const series = new Map<string, ReadonlySet<string>>()
  for (const { name, type, labelNames } of metrics()) {
    const labels = new Set([...labelNames, ...OF_PROMETHEUS])
    if (type !== 'histogram') series.set(name, labels)
    else {
      series.set(`${name}_bucket`, new Set([...labels, 'le']))
      for (const part of ['sum', 'count']) series.set(`${name}_${part}`, labels)
    }
  }
  return series.set('up', new Set(OF_PROMETHEUS))
}

/** A query, and the text that shows what it finds. */
interface Query {
  readonly expr: string
  readonly shown: string
}

interface Panel {
  readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[]
}

interface Rules {
  readonly groups: readonly {
    readonly rules: readonly { readonly expr: string; readonly annotations: { readonly summary: string } }[]
  }[]
}

/** What is asked of Prometheus. */
async function queries(): Promise<{ dashboard: Query[]; alerts: Query[] }> {
  const read = (path: string) => readFile(new URL(`../../../../deploy/${path}`, import.meta.url), 'utf8')
  const { panels }: { panels: readonly Panel[] } = JSON.parse(await read('grafana/pixgate.json'))
  const { groups }: Rules = parse(await read('prometheus/alerts.yml'))
  return {
    dashboard: panels.flatMap(({ targets = [] }) =>
      targets.map(({ expr, legendFormat }) => ({ expr, shown: legendFormat })),
    ),
    alerts: groups.flatMap(({ rules }) => rules.map(({ expr, annotations }) => ({ expr, shown: annotations.summary }))),
  }
}

const MATCHER = /(\w+)\s*(=~|!~|!=|=)\s*"([^"]*)"/g

/** The series of a query, each with the labels that it is chosen by, and what else it says that is no word of PromQL. */
function partsOf(expr: string) {
  const selectors = [...expr.matchAll(/\b([a-zA-Z_:][\w:]*)\s*\{([^}]*)\}/g)].map(([, name = '', matchers = '']) => ({
    name,
    matchers: [...matchers.matchAll(MATCHER)].map(([, label = '', , value = '']) => ({
      label,
      values: value.split('|'),
    })),
  }))
  const bare = expr.replaceAll(/\{[^}]*\}|\[[^\]]*\]|\b(?:by|on) \([^)]*\)/g, ' ')
  return { selectors, grouped: groupsOf(expr), names: namesIn(bare) }
}

/** The labels that are grouped by, each with the series that follows. */
function groupsOf(expr: string) {
  return [...expr.matchAll(/\b(?:by|on) \(([^)]*)\)/g)].flatMap(({ 0: whole, 1: labels = '', index }) => {
    const [name = ''] = namesIn(expr.slice(index + whole.length))
    return (labels.match(/\w+/g) ?? []).map((label) => ({ name, label }))
  })
}

function namesIn(expr: string): string[] {
  return (expr.match(/[a-zA-Z_:][\w:]*/g) ?? []).filter((word) => word === 'up' || !WORDS.has(word))
}

/** The values that are known of a label of a series; `undefined`: any. */
function valuesOf(name: string, label: string): readonly string[] | undefined {
  const series = Object.keys(VALUES).find((known) =>
    new RegExp(`^${known}(_(oldest_age_|)seconds|_total|_count|_bucket|)$`).test(name),
  )
  return series === undefined ? undefined : VALUES[series]?.[label]
}

/** What a query and what it shows name that is not exported. */
function unknownIn({ expr, shown }: Query, series: ReturnType<typeof exported>): string[] {
  const { selectors, grouped, names } = partsOf(expr)
  const has = (name: string, label: string) => series.get(name)?.has(label) ?? true
  const matched = selectors.flatMap(({ name, matchers }) =>
    matchers.flatMap(({ label, values }) => [
      ...(has(name, label) ? [] : [label]),
      ...values.filter((value) => valuesOf(name, label)?.includes(value) !== true),
    ]),
  )
  const labels = [...shown.matchAll(/\{\{ ?(?:\$labels\.)?(\w+) ?\}\}/g)].map(([, label = '']) => label)
  return [
    ...names.filter((name) => !series.has(name)),
    ...matched,
    ...grouped.filter(({ name, label }) => !has(name, label)).map(({ label }) => label),
    ...labels.filter((label) => !has(names[0] ?? '', label)),
  ]
}

test('[metrics.5] the dashboard and the alerts name nothing but what the service exports', async () => {
  const series = exported()
  const { dashboard, alerts } = await queries()
  assert.ok(dashboard.length > 25 && alerts.length > 18)
  for (const query of [...dashboard, ...alerts]) assert.deepEqual(unknownIn(query, series), [], query.expr)
})

const FAULTS: readonly (readonly [expr: string, unknown: string])[] = [
  ['sum by (id) (pixgate_operations)', 'id'],
  ['pixgate_operations{of="cash_in"}', 'of'],
  ['sum(pixgate_gone) + max(pixgate_operations)', 'pixgate_gone'],
  ['sum(gone_altogether)', 'gone_altogether'],
  ['pixgate_inbox_callbacks_total{orgin!~"refused|stale"}', 'orgin'],
  ['pixgate_inbox_callbacks_total{origin=~"refused|stail"}', 'stail'],
  ['pixgate_bank_call_duration_seconds_count{outcome="unauthorised"}', 'unauthorised'],
  ['pixgate_operations_oldest_age_seconds{state="RESULT_UNKNOWN"}', 'RESULT_UNKNOWN'],
  ['pixgate_cases_open{kind="of no list"}', 'of no list'],
]

for (const [expr, unknown] of FAULTS) {
  test(`[metrics.5] what is wrong is seen: ${expr}`, () => {
    assert.ok(unknownIn({ expr, shown: '' }, exported()).includes(unknown))
  })
}

test('[metrics.5] whatever the service exports is on the dashboard, by its whole name', async () => {
  const shown = new Set((await queries()).dashboard.flatMap(({ expr }) => partsOf(expr).names.map(metricOf)))
  const names = new Set([...exported().keys()].filter((name) => name !== 'up').map(metricOf))
  assert.deepEqual(
    [...names].filter((name) => !shown.has(name)),
    [],
  )
})

function metricOf(series: string): string {
  return series.replace(/_(?:bucket|sum|count)$/, '')
}

test('[metrics.1] names have the prefix, base units and the suffix that Prometheus asks for', () => {
  for (const { name, type } of metrics()) {
    assert.match(name, /^pixgate_[a-z_]+$/)
    assert.equal(name.endsWith('_total'), type === 'counter', name)
    assert.doesNotMatch(name, /_(?:ms|millis|minutes|kb)\b/)
    if (/duration|wait_|age|delay|skew/.test(name)) assert.match(name, /_seconds$/)
  }
})
