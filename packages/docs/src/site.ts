import MiniSearch from 'minisearch'
import './style.css'

/** Script of the pages: search, copy, menu, language of the samples. Without it they are complete to read. */

interface Found {
  readonly url: string
  readonly title: string
  readonly at: string
  readonly text: string
}

const RESULTS = 12

/** Words of a question that say nothing about its subject, in English and Portuguese. */
const IDLE = new Set(
  'a an and are by do does for from how i in is it me my of on or the to what when where which who why with a as com como da das de do dos e em faz fazer meu minha na no o onde os ou para por qual quando que quem se significa ser um uma'.split(
    ' ',
  ),
)

function element<const Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  text: string,
  className = '',
): HTMLElementTagNameMap[Name] {
  const made = document.createElement(name)
  made.textContent = text
  made.className = className
  return made
}

/** The place of a document's beginning where the first word of the search stands. */
function excerpt(text: string, query: string): string {
  const words = termsOf(query)
  const at = words.map((word) => plain(text).indexOf(word)).find((place) => place >= 0) ?? 0
  const from = at < 80 ? 0 : text.indexOf(' ', at - 60) + 1
  return (from > 0 ? '… ' : '') + text.slice(from, from + 160).replace(/\s+\S*$/, ' …')
}

function plain(text: string): string {
  return text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase()
}

function termsOf(query: string): string[] {
  return plain(query)
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '' && !IDLE.has(word))
}

let loading: Promise<MiniSearch<Found>> | undefined

async function load(): Promise<MiniSearch<Found>> {
  const answer = await fetch(document.body.dataset.index ?? '', { credentials: 'omit' })
  const entries: readonly Found[] = await answer.json()
  const index = new MiniSearch<Found>({
    idField: 'url',
    fields: ['title', 'at', 'text'],
    storeFields: ['title', 'at', 'text'],
    processTerm: plain,
    searchOptions: {
      boost: { title: 4, at: 2 },
      prefix: (term) => term.length > 2,
      fuzzy: (term) => (term.length > 5 ? 0.15 : false),
      processTerm: (term) => (IDLE.has(plain(term)) ? null : plain(term)),
    },
  })
  // An address may be listed twice: two headings of the same words.
  index.addAll([...new Map(entries.map((entry) => [entry.url, entry])).values()])
  return index
}

function search(): void {
  const dialog = document.querySelector('dialog')
  const input = dialog?.querySelector('input')
  const list = dialog?.querySelector('ol')
  const status = dialog?.querySelector('p')
  const button = document.querySelector<HTMLButtonElement>('button.search')
  if (!dialog || !input || !list || !status || !button) return
  const open = () => {
    loading ??= load()
    dialog.showModal()
    input.select()
  }
  const show = async () => {
    loading ??= load()
    const index = await loading
    const query = input.value
    // First what has all words, then what has some.
    const all = [...index.search(query, { combineWith: 'AND' }), ...index.search(query)]
    const found = [...new Map(all.map((entry) => [entry.id, entry])).values()].slice(0, RESULTS)
    if (query !== input.value) return
    list.replaceChildren(
      ...found.map(({ id, title, at, text }) => {
        const link = element('a', '')
        link.href = String(id)
        link.append(element('strong', title), element('small', at), element('span', excerpt(text, query)))
        const item = document.createElement('li')
        item.append(link)
        return item
      }),
    )
    status.textContent = found.length > 0 || query.trim() === '' ? '' : (document.body.dataset.none ?? '')
  }
  const move = (step: number) => {
    const stops: (Element | null)[] = [input, ...list.querySelectorAll('a')]
    const at = stops.indexOf(document.activeElement)
    const next = stops[Math.max(0, Math.min(stops.length - 1, at + step))]
    if (next instanceof HTMLElement) next.focus()
  }
  button.hidden = false
  button.addEventListener('click', open)
  input.addEventListener('input', show)
  dialog.addEventListener('keydown', (event) => {
    if (event.key === 'Enter' && event.target === input) list.querySelector('a')?.click()
    else if (event.key === 'ArrowDown') move(1)
    else if (event.key === 'ArrowUp') move(-1)
    else return
    event.preventDefault()
  })
  // A click beside the box, or on an answer, which may stand on this very page.
  dialog.addEventListener('click', ({ target }) => {
    if (target === dialog || (target instanceof Element && target.closest('a'))) dialog.close()
  })
  addEventListener('keydown', (event) => {
    const isWriting = event.target instanceof HTMLElement && /INPUT|TEXTAREA/.test(event.target.tagName)
    const isCalled = event.key === '/' ? !isWriting : event.key === 'k' && (event.ctrlKey || event.metaKey)
    if (!isCalled || dialog.open) return
    event.preventDefault()
    open()
  })
}

/** Copies in a page without an origin too, where the browser refuses its clipboard. */
async function copy(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text)
  } catch {
    const area = element('textarea', text)
    document.body.append(area)
    area.select()
    document.execCommand('copy')
    area.remove()
  }
}

function copyButtons(): void {
  const { copy: word = '', copied = '' } = document.body.dataset
  for (const block of document.querySelectorAll('pre')) {
    const button = element('button', word, 'copy')
    button.addEventListener('click', async () => {
      await copy(block.textContent ?? '')
      button.textContent = copied
      button.focus()
      setTimeout(() => {
        button.textContent = word
      }, 1_500)
    })
    const frame = element('div', '', 'block')
    block.replaceWith(frame)
    frame.append(block, button)
  }
}

/** Marks in the menu what is read, and opens the group around it. */
function mark(): void {
  const menu = document.querySelector<HTMLElement>('#menu')
  if (!menu) return
  const { path = '' } = menu.dataset
  const links = [...menu.querySelectorAll('a')]
  const linkOf = (address: string) => links.find((link) => link.getAttribute('href') === address)
  const show = (link: HTMLAnchorElement | undefined) => {
    menu.querySelector('[aria-current]')?.removeAttribute('aria-current')
    if (!link) return
    link.setAttribute('aria-current', 'page')
    const group = link.closest('details')
    if (group) group.open = true
    const [box, place] = [menu.getBoundingClientRect(), link.getBoundingClientRect()]
    if (place.top < box.top || place.bottom > box.bottom) menu.scrollTop += place.top - box.top - box.height / 3
  }
  show(linkOf(path + location.hash) ?? linkOf(path))
  menu.addEventListener('click', ({ target }) => {
    if (target instanceof HTMLAnchorElement && menu.matches(':popover-open')) menu.hidePopover()
  })
  const seen = new IntersectionObserver(
    (entries) => {
      const entry = entries.findLast(({ isIntersecting }) => isIntersecting)
      const link = entry && linkOf(`${path}#${entry.target.id}`)
      if (link) show(link)
    },
    { rootMargin: '-80px 0px -80% 0px' },
  )
  for (const section of document.querySelectorAll('section[id], h2[id]')) seen.observe(section)
}

const LANGUAGE = 'pixgate-samples'

/** A page without an origin has none. */
function storage(): Storage | undefined {
  try {
    return localStorage
  } catch {
    return undefined
  }
}

/** Shows the samples of all operations in one language. */
function languages(): void {
  const groups = [...document.querySelectorAll('.samples')]
    .map((group) => [...group.querySelectorAll<HTMLElement>('[data-language]')])
    .filter(({ length }) => length > 1)
  const buttons: HTMLButtonElement[] = []
  const show = (language: string) => {
    for (const sample of groups.flat()) sample.hidden = sample.dataset.language !== language
    for (const button of buttons) button.ariaPressed = String(button.textContent === language)
  }
  for (const samples of groups) {
    const tabs = element('div', '', 'languages')
    for (const { dataset } of samples) {
      const button = element('button', dataset.language ?? '')
      button.addEventListener('click', () => {
        // The samples above change their height too.
        const { top } = tabs.getBoundingClientRect()
        show(button.textContent ?? '')
        scrollBy({ top: tabs.getBoundingClientRect().top - top, behavior: 'instant' })
        storage()?.setItem(LANGUAGE, button.textContent ?? '')
      })
      tabs.append(button)
      buttons.push(button)
    }
    samples[0]?.before(tabs)
  }
  const chosen = storage()?.getItem(LANGUAGE)
  show(buttons.find(({ textContent }) => textContent === chosen)?.textContent ?? 'curl')
}

search()
copyButtons()
languages()
mark()
