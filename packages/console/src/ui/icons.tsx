/** Outlines on a grid of 20, drawn for this console. */
const PATHS = {
  overview: 'M3 10.5 10 4l7 6.5M5 9v7.5h10V9',
  payments: 'M3.5 6.5h13M13 3.5l3.5 3-3.5 3M16.5 13.5h-13M7 10.5l-3.5 3 3.5 3',
  cases: 'M4 4.5h12v11H4zM10 7.5v3M10 13v.1',
  approvals: 'M4 10.5l3 3 4-5M10.5 13.5l5.5-7',
  statement: 'M5 3.5h10v13l-2.5-1.5L10 16.500l-2.500-1.500L5 16.500zM8 7.500h4M8 10.500h4',
  ledger: 'M4.500 3.500h9a2 2 0 0 1 2 2v11h-9a2 2 0 0 1-2-2zM8 7.500h4.500M8 10.500h4.500',
  closes: 'M4 5.500h12v11H4zM4 9h12M7.500 3.500v3M12.500 3.500v3',
  webhooks:
    'M10 8.500a2.500 2.500 0 1 1 2-1l2.500 4.500M8.200 7.500 5.800 12M5.500 11.500a2.500 2.500 0 1 0 2.500 2.500h4M14.500 16a2.500 2.500 0 1 0-1.500-4',
  keys: 'M12.500 11.500a4 4 0 1 0-3.800-2.700L3.500 14v2.500H6V15h1.500v-1.500H9l1.200-1.200M13.500 6.500v.1',
  people:
    'M7.500 9.500a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM2.500 16.500c0-3 2-5 5-5s5 2 5 5M13 3.800a3 3 0 0 1 0 5.400M14.500 11.900c2 .6 3 2.300 3 4.600',
  limits: 'M3.500 14a6.500 6.500 0 1 1 13 0M10 14l3.500-4.500',
  audit: 'M10 3l6 2v4.500c0 3.500-2.500 6-6 7.500-3.500-1.500-6-4-6-7.500V5zM7.500 10l2 2 3.500-4',
  system: 'M3.500 4.500h13v4.500h-13zM3.500 11.500h13V16h-13zM6.500 6.700v.1M6.500 13.700v.1',
  sandbox: 'M8 3.500h4M8.500 3.500v5L4.500 15a1 1 0 0 0 1 1.500h9a1 1 0 0 0 1-1.500l-4-6.500v-5M6.500 12.500h7',
  search: 'M9 14.500a5.500 5.500 0 1 0 0-11 5.500 5.500 0 0 0 0 11zM13 13l4 4',
  close: 'M5 5l10 10M15 5 5 15',
  copy: 'M7.500 7.500h9v9h-9zM12.500 7.500v-4h-9v9h4',
  check: 'M4.500 10.500l4 4 7-9',
  right: 'M8 5l5 5-5 5',
  left: 'M12 5l-5 5 5 5',
  more: 'M5.25 10a.75.75 0 1 1-1.5 0 .75.75 0 0 1 1.5 0zM10.75 10a.75.75 0 1 1-1.5 0 .75.75 0 0 1 1.5 0zM16.25 10a.75.75 0 1 1-1.5 0 .75.75 0 0 1 1.5 0z',
  download: 'M10 3.500v9M6.500 9.500 10 13l3.500-3.500M4 16.500h12',
  menu: 'M3.500 6h13M3.500 10h13M3.500 14h13',
  in: 'M10 3.500v12M5.500 11l4.500 4.500 4.500-4.500',
  out: 'M10 16.500v-12M5.500 9 10 4.500 14.500 9',
  back: 'M7.500 4.500 3.500 8l4 3.500M3.500 8h8a4.500 4.500 0 0 1 0 9H7',
  bank: 'M3.500 8 10 3.500 16.500 8zM5.500 8v6M10 8v6M14.500 8v6M3.500 16.500h13',
  move: 'M4 10h11M11 6l4 4-4 4',
  bell: 'M5.500 13.500V9a4.500 4.500 0 0 1 9 0v4.500l1.500 1.500H4zM8.500 17h3',
  request: 'M4 4.500h12v9H9l-3.500 3v-3H4z',
} as const

export type IconName = keyof typeof PATHS

/** Beside a text: it says nothing of its own. */
export function Icon({ name, size = 20 }: { readonly name: IconName; readonly size?: number }) {
  return (
    <svg width={size} height={size} viewBox="0 0 20 20" aria-hidden="true" focusable="false">
      <path
        d={PATHS[name]}
        fill="none"
        stroke="currentColor"
        strokeWidth="1.5"
        strokeLinecap="round"
        strokeLinejoin="round"
      />
    </svg>
  )
}
