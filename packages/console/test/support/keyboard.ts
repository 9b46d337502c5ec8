import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import type { Page } from 'playwright-core'

/** A person who has a keyboard and no mouse. */

/** The focused element. Places are those of the document, or of the dialog. */
interface Focus {
  readonly name: string
  readonly tag: string
  readonly index: number
  readonly isChecked: boolean
  /** Of a list. */
  readonly chosen: string
  /** It has an outline, and is not covered. */
  readonly fault: string
  readonly box: { readonly top: number; readonly bottom: number; readonly left: number; readonly right: number }
}

/** Elements that Tab comes to, in their order: of radio buttons the chosen one, or else the first. */
const STOPS = `[...(document.querySelector('dialog[open]:not(:has(dialog[open]))') ?? document)
  .querySelectorAll('a[href], button, input, select, textarea, summary, [tabindex="0"]')]
  .filter((one) => !one.disabled && one.tabIndex >= 0 && one.checkVisibility({ visibilityProperty: true }))
  .filter((one, _, all) => one.type !== 'radio' || one === (all.find((other) => other.name === one.name && other.checked) ?? all.find((other) => other.name === one.name)))`

const FOCUS = `(() => {
  const at = document.activeElement
  if (at === null || at === document.body) return null
  const label = at.labels?.[0]
  const name = (at.getAttribute('aria-label') ?? label?.innerText ?? at.innerText).trim().replace(/\\s+/g, ' ')
  const outlines = [getComputedStyle(at), getComputedStyle(at, '::after'), ...(label ? [getComputedStyle(label)] : [])]
  // A box with nothing else in it shows where it is by its line.
  const isOutlined = at.role === 'combobox' || outlines.some(({ outlineStyle, outlineWidth }) => outlineStyle !== 'none' && parseFloat(outlineWidth) > 0)
  const { top, bottom, left, right } = at.getBoundingClientRect()
  const points = [[(left + right) / 2, (top + bottom) / 2], [left + 3, top + 3], [right - 3, bottom - 3], [left + 3, bottom - 3]]
  const isSeen = points.some(([x, y]) => {
    const seen = document.elementFromPoint(x, y)
    return seen !== null && (at.contains(seen) || seen.contains(at) || label?.contains(seen))
  })
  const scrolled = at.closest('dialog')?.scrollTop ?? scrollY
  return {
    name, tag: at.type === 'radio' ? 'radio' : at.localName, index: ${STOPS}.indexOf(at),
    isChecked: at.checked === true, chosen: at.selectedOptions?.[0]?.text ?? '',
    fault: isOutlined ? isSeen ? '' : 'is covered' : 'has no outline',
    box: { top: top + scrolled, bottom: bottom + scrolled, left, right },
  }
})()`

const TABS_MAX = 120

const LOOK_MS = 50
const LOOKS_MAX = 600

/** Looks again for half a minute: data that arrives changes the page, and a message covers a part of it for a moment. */
export async function eventually(holds: () => Promise<boolean>, fault: string): Promise<void> {
  for (let looks = 0; !(await holds()); looks++) {
    assert.ok(looks < LOOKS_MAX, fault)
    await delay(LOOK_MS)
  }
}

export interface Keyboard {
  readonly page: Page
  readonly focus: () => Promise<Focus | null>
  /** Goes on by Tab until it is there. A name may begin with this one. */
  readonly to: (name: string, tag?: string) => Promise<void>
  readonly press: (...keys: string[]) => Promise<void>
  readonly type: (text: string) => Promise<void>
  /** Goes once through all that Tab comes to, and finds what is missing, hidden, or not in the order of the screen. */
  readonly faultsOfRound: () => Promise<string[]>
}

export function keyboardOf(page: Page): Keyboard {
  const focus = () => page.evaluate<Focus | null>(FOCUS)
  const press = async (...keys: string[]) => {
    for (const key of keys) await page.keyboard.press(key)
  }
  return {
    page,
    focus,
    press,
    type: (text) => page.keyboard.type(text),
    to: async (name, tag) => {
      const passed: string[] = []
      for (let tabs = 0; tabs < TABS_MAX; tabs++) {
        const at = await focus()
        if (at?.name.startsWith(name) && (tag === undefined || at.tag === tag)) {
          return eventually(async () => (await focus())?.fault === '', `${name} ${at.fault}`)
        }
        passed.push(at?.name ?? '–')
        await press('Tab')
      }
      assert.fail(`Tab does not come to «${name}»: ${passed.join(' | ')}`)
    },
    faultsOfRound: async () => {
      const stops: Focus[] = []
      for (let tabs = 0; tabs < TABS_MAX; tabs++) {
        await press('Tab')
        const at = await focus()
        // The browser lets Tab come to a dialog that has to be scrolled, too.
        if (at === null || at.tag === 'dialog') continue
        if (stops.length > 1 && at.index === stops[0]?.index) break
        // A field for a day has a stop for each of its parts.
        if (at.index !== stops.at(-1)?.index) stops.push(at)
      }
      const expected = await page.evaluate<number>(`${STOPS}.length`)
      const inOrder = stops.toSorted((one, other) => one.index - other.index)
      const isRound = stops.every(
        ({ index }, place) => place === 0 || index === ((stops[place - 1]?.index ?? 0) + 1) % expected,
      )
      return [
        ...inOrder.flatMap(({ name, fault }) => (fault ? [`«${name}» ${fault}`] : [])),
        ...inOrder.flatMap(({ name, box }, place) => {
          const before = inOrder[place - 1]?.box
          const isBack = before && box.bottom <= before.top && box.left < before.right
          return isBack ? [`«${name}» is above the stop before`] : []
        }),
        ...(isRound && stops.length === expected
          ? []
          : [`not ${expected} stops in order: ${stops.map(({ index, name }) => `${index} ${name}`).join(' | ')}`]),
      ]
    },
  }
}
