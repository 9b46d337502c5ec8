import { QueryClientProvider } from '@tanstack/react-query'
import { createRoot } from 'react-dom/client'
import { client } from './api.ts'
import { App } from './app.tsx'
import './tokens.css'
import { setTheme, themeNow } from './theme.ts'
import { loadFirstLanguage, WordsProvider } from './words/words.tsx'

/** The code of a one-time link is in the fragment, which no server sees; it leaves the address before anything is asked. */
function takeLink(): string | undefined {
  const [, code] = /^#link=([\w-]{1,64})$/.exec(location.hash) ?? []
  if (location.hash.startsWith('#link=')) history.replaceState(null, '', location.pathname + location.search)
  return code
}

const link = takeLink()
setTheme(themeNow())
const first = await loadFirstLanguage()
const root = document.getElementById('root')
if (root) {
  createRoot(root).render(
    <QueryClientProvider client={client}>
      <WordsProvider first={first}>
        <App link={link} />
      </WordsProvider>
    </QueryClientProvider>,
  )
}
