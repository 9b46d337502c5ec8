import type { IconName } from './ui/icons.tsx'
import type { Words } from './words/words.tsx'

/** Pages of the navigation, in groups. */

export interface Destination {
  readonly name: keyof Words['nav']
  readonly href: string
  readonly icon: IconName
}

export const destinations: readonly {
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
]
