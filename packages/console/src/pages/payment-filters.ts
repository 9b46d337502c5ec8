import { useSearchParams } from 'wouter'

/** Filters of the list of payments. They are in the address. */

const FILTERS = [
  'kind',
  'status',
  'from',
  'to',
  'paid_from',
  'paid_to',
  'min_cents',
  'max_cents',
  'document',
  'key',
] as const

export type Filters = Partial<Record<(typeof FILTERS)[number], string>>

export const NO_FILTERS: Filters = Object.fromEntries(FILTERS.map((name) => [name, '']))

/** Filters below «more filters». */
export const MORE_FILTERS = FILTERS.slice(3)

/** Days before today on which a period begins that ends today. */
export const PERIODS = { today: 0, week: 6, month: 29 } as const

/** The filters that are given, in one order. */
export function filtersOf(read: (name: keyof Filters) => string | null | undefined): Filters {
  return Object.fromEntries(
    FILTERS.flatMap((name) => {
      const value = read(name)
      return value ? [[name, value]] : []
    }),
  )
}

/** Filters in the address, and what sets some of them. */
export function useFilters(): [Filters, (next: Filters) => void] {
  const [params, setParams] = useSearchParams()
  const filters = filtersOf((name) => params.get(name))
  const set = (next: Filters) => {
    const all = { ...filters, ...next }
    setParams(new URLSearchParams(filtersOf((name) => all[name])), { replace: true })
  }
  return [filters, set]
}
