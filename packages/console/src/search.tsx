import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { type KeyboardEvent, type ReactNode, useEffect, useId, useState } from 'react'
import { useLocation } from 'wouter'
import { reads, type SearchHit, type Session } from './api.ts'
import { destinationsOf } from './destinations.ts'
import css from './search.module.css'
import { useSession } from './session.tsx'
import { OperationBadge } from './states.tsx'
import { Amount, When } from './ui/data.tsx'
import { Dialog } from './ui/dialog.tsx'
import { ErrorNotice } from './ui/feedback.tsx'
import { Icon } from './ui/icons.tsx'
import { useWords } from './words/words.tsx'

/** Finds an operation, or a page, from everywhere. */

const DEBOUNCE_MS = 120

function useDebounced(value: string): string {
  const [settled, setSettled] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), DEBOUNCE_MS)
    return () => clearTimeout(timer)
  }, [value])
  return settled
}

const plain = (text: string) => text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase()

interface Found {
  readonly key: string
  readonly href: string
  readonly content: ReactNode
}

/** @param q what is searched for; hits of the text before are shown until its own are there */
function useFound(q: string) {
  const words = useWords()
  const session = useSession()
  const { data, error, isPlaceholderData } = useQuery({
    ...reads.search(q),
    enabled: q !== '',
    placeholderData: keepPreviousData,
  })
  const found = q === '' ? [] : [...(data?.data ?? []).map(foundOperation), ...foundPages(q, words, session)]
  return { found, error: q === '' ? null : error, isSettled: data !== undefined && !isPlaceholderData }
}

/**
 * Enter may come before the hits: it opens one of this text then, never one of the text before.
 * @returns what says whether Enter was pressed
 */
function useEntered(isReady: boolean, open: () => void): (isEntered: boolean) => void {
  const [isEntered, setIsEntered] = useState(false)
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each Enter
  useEffect(() => {
    if (!isEntered || !isReady) return
    setIsEntered(false)
    open()
  }, [isEntered, isReady])
  return setIsEntered
}

export function Search({ onClose }: { readonly onClose: () => void }) {
  const words = useWords()
  const listId = useId()
  const [, navigate] = useLocation()
  const [text, setText] = useState('')
  const [at, setAt] = useState(0)
  const q = useDebounced(text.trim())
  const { found, error, isSettled } = useFound(q)
  const chosen = Math.min(at, found.length - 1)
  const isReady = q !== '' && q === text.trim() && (isSettled || error !== null)
  const go = (one: Found | undefined) => {
    if (!one) return
    onClose()
    navigate(one.href)
  }
  const setIsEntered = useEntered(isReady, () => go(found[chosen]))
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step !== undefined && found.length > 0) {
      event.preventDefault()
      setAt((chosen + step + found.length) % found.length)
    }
    if (event.key === 'Enter') {
      event.preventDefault()
      setIsEntered(true)
    }
  }
  return (
    <Dialog title={words.search.title} look="search" isLight onClose={onClose}>
      <div className={css.box}>
        <Icon name="search" />
        <input
          role="combobox"
          aria-label={words.search.title}
          aria-expanded={found.length > 0}
          aria-controls={listId}
          aria-autocomplete="list"
          aria-activedescendant={found.length > 0 ? `${listId}-${chosen}` : undefined}
          value={text}
          maxLength={128}
          placeholder={words.search.placeholder}
          autoComplete="off"
          spellCheck={false}
          onChange={({ target }) => {
            setText(target.value)
            setAt(0)
            setIsEntered(false)
          }}
          onKeyDown={onKeyDown}
        />
      </div>
      <FoundList id={listId} found={found} chosen={chosen} choose={setAt} go={go} />
      {q === '' && <p className={css.hint}>{words.search.hint}</p>}
      {error && <ErrorNotice error={error} />}
      {q !== '' && isSettled && found.length === 0 && <p className={css.hint}>{words.search.nothing(q)}</p>}
    </Dialog>
  )
}

interface FoundListProps {
  readonly id: string
  readonly found: readonly Found[]
  readonly chosen: number
  readonly choose: (index: number) => void
  readonly go: (one: Found) => void
}

function FoundList({ id, found, chosen, choose, go }: FoundListProps) {
  const words = useWords()
  return (
    <div id={id} role="listbox" aria-label={words.search.results} className={css.list}>
      {found.map((one, index) => (
        // biome-ignore lint/a11y/useKeyWithClickEvents: the combobox has the keys
        <div
          key={one.key}
          id={`${id}-${index}`}
          role="option"
          tabIndex={-1}
          aria-selected={index === chosen}
          className={css.option}
          onPointerMove={() => choose(index)}
          onClick={() => go(one)}
        >
          {one.content}
        </div>
      ))}
    </div>
  )
}

function foundOperation({ match, operation }: SearchHit): Found {
  return {
    key: operation.id,
    href: `/payments/${operation.id}`,
    content: <Hit match={match} operation={operation} />,
  }
}

function Hit({ match, operation }: SearchHit) {
  const words = useWords()
  return (
    <>
      <span className={css.who}>
        <span className={css.name}>{operation.name ?? operation.externalId}</span>
        <span className={css.sub}>
          {words.kinds[operation.kind]} · <When at={operation.createdAt} /> · {words.search.matches[match]}
        </span>
      </span>
      <OperationBadge operation={operation} />
      <Amount cents={operation.valueCents} />
    </>
  )
}

function foundPages(q: string, words: ReturnType<typeof useWords>, session: Session): Found[] {
  return destinationsOf(session)
    .flatMap(({ to }) => to)
    .filter(({ name }) => plain(words.nav[name]).startsWith(plain(q)))
    .map(({ name, href, icon }) => ({
      key: name,
      href,
      content: (
        <>
          <Icon name={icon} />
          <span className={css.who}>{words.nav[name]}</span>
        </>
      ),
    }))
}
