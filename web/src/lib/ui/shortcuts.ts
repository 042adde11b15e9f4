import { goto } from '$app/navigation'
import { dialogs } from '#lib/state/dialogs.svelte.ts'
import { agentPanel } from '#lib/state/agent-panel.svelte.ts'
import { preferences } from '#lib/state/preferences.ts'
import { view } from '#lib/state/view.svelte.ts'
import { visitedPages } from '#lib/state/visited-pages.svelte.ts'
import { focusSearch } from './focus-search.ts'
import { openPalette } from './open-palette.svelte.ts'

/** A keyboard shortcut with its description. */
export interface Shortcut {
  keys: readonly string[]
  does: string
  act: () => void
}

const go = (path: string) => () => void goto(view.link(path))

/** Pages reached by `g` and a letter. */
const pages: Readonly<Record<string, readonly [path: string, title: string]>> = {
  o: ['/overview', 'Overview'],
  f: ['/fleet', 'Fleet'],
  h: ['/health', 'Health'],
  q: ['/tables/running-queries', 'Running queries'],
  s: ['/tables/slow-queries', 'Slow queries'],
  m: ['/tables/merges', 'Running merges'],
  t: ['/tables/tables-overview', 'Tables'],
}

/** Shortcuts that work outside of text fields, unless turned off. Those with `g` wait for a second key. */
export const shortcuts: readonly Shortcut[] = [
  { keys: ['?'], does: 'Show keyboard shortcuts', act: () => dialogs.show('shortcuts') },
  { keys: [','], does: 'Settings', act: () => dialogs.show('settings') },
  { keys: ['/'], does: 'Search in table', act: focusSearch },
  { keys: ['a'], does: 'Ask the agent about this page', act: () => agentPanel.open() },
  { keys: ['s'], does: 'Star this page, or remove its star', act: visitedPages.toggleStar },
  { keys: ['p'], does: 'Pause or resume refresh', act: () => void view.setPaused(!view.paused) },
  { keys: ['c'], does: 'Compare with previous period', act: () => void view.setComparing(!view.comparing) },
  { keys: ['['], does: 'Previous time range', act: () => void view.shift(-1) },
  { keys: [']'], does: 'Next time range', act: () => void view.shift(1) },
  { keys: ['-'], does: 'Zoom out', act: () => void view.zoomOut() },
  ...Object.entries(pages).map(([letter, [path, title]]) => ({ keys: ['g', letter], does: title, act: go(path) })),
]

/** Timeout for the second key. */
const timeoutMs = 1_500

/** Listens for shortcuts and returns a function that stops it. */
export const listenForShortcuts = (): (() => void) => {
  let first = ''
  let timer: ReturnType<typeof setTimeout> | undefined
  const listen = (event: KeyboardEvent) => {
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k') {
      event.preventDefault()
      return openPalette()
    }
    if (preferences.current.keys === 'off') return
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || isBusy(event.target)) return
    const pressed = [first, event.key].filter(Boolean).join(' ')
    clearTimeout(timer)
    first = ''
    const shortcut = shortcuts.find(({ keys }) => keys.join(' ') === pressed)
    if (shortcut) {
      event.preventDefault()
      shortcut.act()
    } else if (event.key === 'g') {
      first = 'g'
      timer = setTimeout(() => (first = ''), timeoutMs)
    }
  }
  document.addEventListener('keydown', listen)
  return () => {
    clearTimeout(timer)
    document.removeEventListener('keydown', listen)
  }
}

/** Returns whether a text field has the focus or a dialog is open. Shortcuts are disabled then. */
const isBusy = (target: EventTarget | null): boolean =>
  document.querySelector('dialog[open], [role=dialog], [role=alertdialog]') !== null ||
  (target instanceof HTMLElement &&
    (target.isContentEditable || ['INPUT', 'TEXTAREA', 'SELECT'].includes(target.tagName)))
