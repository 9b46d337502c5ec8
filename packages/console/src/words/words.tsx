import { useQuery } from '@tanstack/react-query'
import { createContext, type ReactNode, useContext, useMemo, useState } from 'react'
import { type Format, formatOf } from '../format.ts'
import { ptBR } from './pt-BR.ts'

/** The words of the console in the language of the person. */

export type Language = 'pt-BR' | 'en'

type Widened<T> = T extends string
  ? string
  : T extends (...args: infer Args) => string
    ? (...args: Args) => string
    : { readonly [Name in keyof T]: Widened<T[Name]> }

/** Every language has all of them. */
export type Words = Widened<typeof ptBR>

interface Spoken {
  readonly language: Language
  readonly words: Words
}

const STORED = 'pixgate-language'

function firstLanguage(): Language {
  const stored = localStorage.getItem(STORED)
  if (stored === 'en' || stored === 'pt-BR') return stored
  return navigator.languages.find((name) => /^(?:pt|en)\b/.test(name))?.startsWith('en') ? 'en' : 'pt-BR'
}

async function load(language: Language): Promise<Spoken> {
  document.documentElement.lang = language
  const words = language === 'en' ? (await import('./en.ts')).en : ptBR
  return { language, words }
}

export function loadFirstLanguage(): Promise<Spoken> {
  return load(firstLanguage())
}

interface InUse extends Spoken {
  readonly format: Format
  readonly setLanguage: (language: Language) => Promise<void>
}

const Context = createContext<InUse | undefined>(undefined)

export function WordsProvider({ first, children }: { readonly first: Spoken; readonly children: ReactNode }) {
  const [spoken, setSpoken] = useState(first)
  const inUse = useMemo(
    () => ({
      ...spoken,
      format: formatOf(spoken.language),
      setLanguage: async (language: Language) => {
        localStorage.setItem(STORED, language)
        setSpoken(await load(language))
      },
    }),
    [spoken],
  )
  return <Context value={inUse}>{children}</Context>
}

function useInUse(): InUse {
  const inUse = useContext(Context)
  if (!inUse) throw new Error('no words are provided')
  return inUse
}

export function useWords(): Words {
  return useInUse().words
}

export function useFormat(): Format {
  return useInUse().format
}

export function useLanguage(): Pick<InUse, 'language' | 'setLanguage'> {
  return useInUse()
}

const loadSaid = () => import('./said-pt-BR.ts').then(({ said }) => said)

/** A sentence of the specification in the language of the person; one without a translation stays English. */
export function Said({ text }: { readonly text: string }) {
  const { language } = useLanguage()
  const { data, isPending } = useQuery({
    queryKey: ['said'],
    queryFn: loadSaid,
    staleTime: Number.POSITIVE_INFINITY,
    enabled: language !== 'en',
  })
  const translated = data?.[text]
  if (language === 'en' || translated !== undefined) return withCode(translated ?? text)
  return <span lang="en">{isPending ? '' : withCode(text)}</span>
}

/** Names in backquotes are code. */
function withCode(text: string): ReactNode {
  if (!text.includes('`')) return text
  // biome-ignore lint/suspicious/noArrayIndexKey: parts of one sentence never move
  return text.split('`').map((part, index) => (index % 2 === 1 ? <code key={index}>{part}</code> : part))
}
