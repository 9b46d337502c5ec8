import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useEffect, useState, useSyncExternalStore } from 'react'
import { Link, useLocation } from 'wouter'
import { reads } from './api.ts'
import { type Destination, destinationsOf } from './destinations.ts'
import css from './frame.module.css'
import { connectionNow, onConnection } from './live.ts'
import { Search } from './search.tsx'
import { logOut, useSession } from './session.tsx'
import { setTheme, type Theme, themeNow } from './theme.ts'
import { Button, Choice, IconButton } from './ui/controls.tsx'
import { Dialog } from './ui/dialog.tsx'
import { Icon } from './ui/icons.tsx'
import { useKeptFocus, useSearchKeys } from './ui/keys.ts'
import { useFormat, useLanguage, useWords, type Words } from './words/words.tsx'

/** The frame around every page: navigation, mode, search, and the person. */

export function Frame({ children }: { readonly children: ReactNode }) {
  const words = useWords()
  const { mode } = useSession()
  const [open, setOpen] = useState<'search' | 'more'>()
  const [path] = useLocation()
  useSearchKeys(() => setOpen('search'))
  useKeptFocus()
  useTitle()
  // biome-ignore lint/correctness/useExhaustiveDependencies: another page closes what is open
  useEffect(() => setOpen(undefined), [path])
  return (
    <div className={css.frame} data-mode={mode}>
      <a href="#page" className={css.skip}>
        {words.skip}
      </a>
      <header className={css.top}>
        <Brand />
        <IconButton icon="search" label={words.search.title} onClick={() => setOpen('search')} />
      </header>
      <aside className={css.side}>
        <Brand />
        <button
          type="button"
          className={css.searchButton}
          onClick={() => setOpen('search')}
          aria-keyshortcuts="/ Meta+K Control+K"
        >
          <Icon name="search" size={18} />
          <span>{words.search.title}</span>
          <kbd>/</kbd>
        </button>
        <Navigation />
        <Person />
      </aside>
      <div className={css.main}>
        <ConnectionLost />
        <main id="page" tabIndex={-1} className={css.page}>
          {children}
        </main>
      </div>
      <BottomBar onMore={() => setOpen('more')} />
      {open === 'search' && <Search onClose={() => setOpen(undefined)} />}
      {open === 'more' && (
        <Dialog title={words.nav.more} look="sheet" isLight onClose={() => setOpen(undefined)}>
          <Navigation />
          <Person />
        </Dialog>
      )}
    </div>
  )
}

/** The title of the browser's tab. */
function useTitle(): void {
  const words = useWords()
  const session = useSession()
  const [path] = useLocation()
  const page = destinationsOf(session)
    .flatMap(({ to }) => to)
    .find(({ href }) => isCurrent(path, href))
  const title = page ? `${words.nav[page.name]} · Pixgate` : 'Pixgate'
  useEffect(() => {
    document.title = title
  }, [title])
}

function Brand() {
  const words = useWords()
  const { mode, hasSimulatedBank } = useSession()
  return (
    <div className={css.brand}>
      <Link href="/" className={css.wordmark}>
        Pixgate
      </Link>
      {hasSimulatedBank ? (
        <Link href="/sandbox" className={css.mode}>
          {words.mode[mode]}
        </Link>
      ) : (
        <span className={css.mode}>{words.mode[mode]}</span>
      )}
    </div>
  )
}

/** What waits for a person, beside its page. */
function useWaiting(): Partial<Record<keyof Words['nav'], number>> {
  const { data } = useQuery(reads.overview())
  if (!data) return {}
  const { cases, payouts, proposals } = data.needsPerson
  return { cases: cases.count, approvals: payouts.count + proposals.count }
}

function isCurrent(path: string, href: string): boolean {
  return href === '/' ? path === '/' : path === href || path.startsWith(`${href}/`)
}

function NavLink({ name, href, icon, waiting }: Destination & { readonly waiting: number | undefined }) {
  const words = useWords()
  const format = useFormat()
  const [path] = useLocation()
  return (
    <Link href={href} className={css.navLink} aria-current={isCurrent(path, href) ? 'page' : undefined}>
      <Icon name={icon} />
      <span>{words.nav[name]}</span>
      {waiting !== undefined && waiting > 0 && (
        <span className={css.count}>
          {format.count(waiting)}
          <span className="visually-hidden"> {words.waiting}</span>
        </span>
      )}
    </Link>
  )
}

function Navigation() {
  const words = useWords()
  const waiting = useWaiting()
  const session = useSession()
  return (
    <nav className={css.nav} aria-label={words.nav.label}>
      {destinationsOf(session).map(({ group, to }) => (
        <div key={group}>
          <h2 className={group === 'money' ? 'visually-hidden' : css.group}>{words.navGroups[group]}</h2>
          <ul>
            {to.map((destination) => (
              <li key={destination.name}>
                <NavLink {...destination} waiting={waiting[destination.name]} />
              </li>
            ))}
          </ul>
        </div>
      ))}
    </nav>
  )
}

function BottomBar({ onMore }: { readonly onMore: () => void }) {
  const words = useWords()
  const waiting = useWaiting()
  const session = useSession()
  return (
    <nav className={css.bottom} aria-label={words.nav.short}>
      {destinationsOf(session)[0]?.to.map((destination) => (
        <NavLink key={destination.name} {...destination} waiting={waiting[destination.name]} />
      ))}
      <button type="button" className={css.navLink} onClick={onMore} aria-haspopup="dialog">
        <Icon name="menu" />
        <span>{words.nav.more}</span>
      </button>
    </nav>
  )
}

/** The person, and how the console looks and speaks for them. */
function Person() {
  const words = useWords()
  const { operator, version } = useSession()
  const { language, setLanguage } = useLanguage()
  const [theme, setShownTheme] = useState(themeNow)
  const choose = (next: Theme) => {
    setTheme(next)
    setShownTheme(next)
  }
  return (
    <details className={css.person}>
      <summary>
        <span className={css.initial} aria-hidden="true">
          {operator.name.slice(0, 1)}
        </span>
        <span>
          {operator.name}
          <span className={css.role}>{words.roles[operator.role]}</span>
        </span>
      </summary>
      <div className={css.settings}>
        <Choice
          label={words.theme.label}
          value={theme}
          options={[
            ['system', words.theme.system],
            ['light', words.theme.light],
            ['dark', words.theme.dark],
          ]}
          onChange={choose}
        />
        <Choice
          label={words.language}
          value={language}
          options={[
            ['pt-BR', 'Português'],
            ['en', 'English'],
          ]}
          onChange={(next) => void setLanguage(next)}
        />
        <Button onClick={() => void logOut()}>{words.logOut}</Button>
        <p className={css.version}>Pixgate {version}</p>
      </div>
    </details>
  )
}

function ConnectionLost() {
  const words = useWords()
  const connection = useSyncExternalStore(onConnection, connectionNow)
  return (
    <div role="status" className={css.connection}>
      {connection === 'lost' && <p>{words.connectionLost}</p>}
    </div>
  )
}
