/** Light, dark, or as the system has it. */

export type Theme = 'system' | 'light' | 'dark'

const STORED = 'pixgate-theme'

export function themeNow(): Theme {
  const stored = localStorage.getItem(STORED)
  return stored === 'light' || stored === 'dark' ? stored : 'system'
}

export function setTheme(theme: Theme): void {
  if (theme === 'system') {
    localStorage.removeItem(STORED)
    delete document.documentElement.dataset.theme
  } else {
    localStorage.setItem(STORED, theme)
    document.documentElement.dataset.theme = theme
  }
}
