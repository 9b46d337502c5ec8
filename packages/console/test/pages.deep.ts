import { testPages } from './support/pages.ts'

/** All pages in every look: what the service answers, theme, language, width. */
for (const answers of ['examples', 'empty', 'error', 'logged-out'] as const) {
  for (const colorScheme of ['light', 'dark'] as const) {
    for (const locale of ['pt-BR', 'en'] as const) {
      for (const width of [320, 1440]) testPages(answers, { colorScheme, locale, width })
    }
  }
}
