import type { Session } from './api.ts'
import type { IconName } from './ui/icons.tsx'
import type { Words } from './words/words.tsx'

/** Pages of the navigation, in groups. */

export interface Destination {
  readonly name: keyof Words['nav']
  readonly href: string
  readonly icon: IconName
  /** Of the simulated bank: only where there is one. */
  readonly isOfSimulatedBank?: boolean
}

const destinations: readonly {
  readonly group: keyof Words['navGroups']
  readonly to: readonly Destination[]
}[] = [
  {
    group: 'money',
    to: [
      { name: 'overview', href: '/', icon: 'overview' },
      { name: 'payments', href: '/payments', icon: 'payments' },
      { name: 'cases', href: '/cases', icon: 'cases' },
      { name: 'approvals', href: '/approvals', icon: 'approvals' },
    ],
  },
  {
    group: 'finance',
    to: [
      { name: 'statement', href: '/statement', icon: 'statement' },
      { name: 'ledger', href: '/ledger', icon: 'ledger' },
      { name: 'closes', href: '/closes', icon: 'closes' },
    ],
  },
  {
    group: 'integration',
    to: [{ name: 'webhooks', href: '/webhooks', icon: 'webhooks' }],
  },
  {
    group: 'administration',
    to: [
      { name: 'keys', href: '/keys', icon: 'keys' },
      { name: 'people', href: '/people', icon: 'people' },
      { name: 'limits', href: '/limits', icon: 'limits' },
      { name: 'audit', href: '/audit', icon: 'audit' },
      { name: 'system', href: '/system', icon: 'system' },
    ],
  },
  {
    group: 'test',
    to: [{ name: 'sandbox', href: '/sandbox', icon: 'sandbox', isOfSimulatedBank: true }],
  },
]

/** The groups with the pages that there are at this service. */
export function destinationsOf({ hasSimulatedBank }: Pick<Session, 'hasSimulatedBank'>): typeof destinations {
  return destinations
    .map(({ group, to }) => ({ group, to: to.filter((one) => hasSimulatedBank || !one.isOfSimulatedBank) }))
    .filter(({ to }) => to.length > 0)
}
