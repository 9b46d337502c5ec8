import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Language } from './frame.ts'

/** Files that `npm run prepare` built for the documents: look, search and guides. */

/** A heading of a document with the words below it. */
export interface DocumentSection {
  readonly level: number
  readonly id: string
  readonly title: string
  readonly text: string
}

/** A document of the repository as HTML. */
export interface DocumentPage {
  readonly path: string
  readonly title: string
  readonly language: Language
  readonly html: string
  readonly sections: readonly DocumentSection[]
  /** Its place in the menu. */
  readonly group?: 'guides' | 'tables' | 'inside'
  /** The same document in the other language. */
  readonly twin?: string
}

/** The built file `site.json`, with the names of the files beside it. */
export interface BuiltSite {
  readonly script: string
  readonly style: string
  readonly pages: readonly DocumentPage[]
}

export interface Site {
  readonly pages: readonly DocumentPage[]
  /** Addresses of the script and the style, with their bytes. */
  readonly assets: readonly Asset[]
}

export interface Asset {
  readonly path: string
  readonly type: string
  readonly text: string
}

/** Beside the sources where it is installed, in a checkout where the build writes it. */
const PLACES = ['../../docs/', '../../../docs/dist/'].map((place) => fileURLToPath(new URL(place, import.meta.url)))

const WITHOUT_BUILD: Site = { pages: [], assets: [] }

let site: Site | undefined

/** The build, read once; without one the pages are plain and there are no guides. @source rules#reference.13 */
export function builtSite(): Site {
  site ??= readSite()
  return site
}

function readSite(): Site {
  const place = PLACES.find((one) => existsSync(join(one, 'site.json')))
  if (place === undefined) return WITHOUT_BUILD
  const { script, style, pages }: BuiltSite = JSON.parse(readFileSync(join(place, 'site.json'), 'utf8'))
  const asset = (name: string, type: string) => ({
    path: `/docs/assets/${name}`,
    type,
    text: readFileSync(join(place, name), 'utf8'),
  })
  return { pages, assets: [asset(script, JAVASCRIPT), asset(style, CSS)] }
}

const JAVASCRIPT = 'text/javascript; charset=utf-8'
const CSS = 'text/css; charset=utf-8'
