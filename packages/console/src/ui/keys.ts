import { useEffect } from 'react'

/** Keys of the whole page. None of them moves money. */

/** `/` where nothing is typed, ⌘K and Ctrl+K everywhere. */
export function useSearchKeys(open: () => void): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const isCommand = event.key.toLowerCase() === 'k' && (event.metaKey || event.ctrlKey)
      const isSlash = event.key === '/' && !event.metaKey && !event.ctrlKey && !event.altKey && !isTyping(event.target)
      if (!isCommand && !isSlash) return
      if (document.querySelector('dialog[open]')) return
      event.preventDefault()
      open()
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  })
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement && target.matches('input:not([type="radio"], [type="checkbox"]), textarea, select')
  )
}

/** `j` and `k` move the focus between rows; Enter opens the row, as of every link. */
export function useRowKeys(): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const step = { j: 1, k: -1 }[event.key]
      if (step === undefined || event.metaKey || event.ctrlKey || event.altKey || isTyping(event.target)) return
      if (document.querySelector('dialog[open]')) return
      const rows = [...document.querySelectorAll<HTMLElement>('[data-row]')]
      const at = rows.indexOf(document.activeElement as HTMLElement)
      const next = rows[at === -1 ? (step === 1 ? 0 : rows.length - 1) : at + step]
      next?.focus()
      next?.scrollIntoView({ block: 'nearest' })
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [])
}

/** Parts of a page that can have the focus when what had it in them is gone. */
const PLACES = 'section, article, main, dialog'

/**
 * Keeps the focus where it was when what had it is removed or hidden, as a button is after an order that ends what it stands
 * beside: the part of the page around it has the focus then, and Tab goes on there.
 */
export function useKeptFocus(): void {
  useEffect(() => {
    let last: Element | undefined
    let places: HTMLElement[] = []
    const remember = ({ target }: FocusEvent) => {
      last = target as Element
      places = []
      for (let place = last.closest<HTMLElement>(PLACES); place; place = place.parentElement?.closest(PLACES) ?? null) {
        places.push(place)
      }
    }
    const keep = () => {
      if (document.activeElement !== document.body || last?.checkVisibility() !== false) return
      const place = places.find((one) => one.checkVisibility())
      last = undefined
      if (place && !place.hasAttribute('tabindex')) place.tabIndex = -1
      place?.focus({ preventScroll: true })
    }
    const observer = new MutationObserver(keep)
    observer.observe(document.body, { childList: true, subtree: true, attributes: true, attributeFilter: ['open'] })
    addEventListener('focusin', remember)
    return () => {
      observer.disconnect()
      removeEventListener('focusin', remember)
    }
  }, [])
}
