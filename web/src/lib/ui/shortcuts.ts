import { goto } from '$app/navigation'
import { dialogs } from '#lib/state/dialogs.svelte.ts'
import { panel } from '#lib/state/panel.svelte.ts'
import { preferences } from '#lib/state/preferences.ts'
import { view } from '#lib/state/view.svelte.ts'
import { focusSearch } from './focus-search.ts'

/** What a key does, and how the sheet of shortcuts tells it. */
export interface Shortcut {
  keys: readonly string[]
  does: string
  act: () => void
}

const go = (path: string) => () => void goto(view.link(path))

/** Pages one goes to by `g` and a letter. */
const pages: Readonly<Record<string, readonly [path: string, title: string]>> = {
  o: ['/overview', 'Overview'],
  f: ['/fleet', 'Fleet'],
  h: ['/health', 'Health'],
  q: ['/tables/running-queries', 'Running queries'],
  s: ['/tables/slow-queries', 'Slow queries'],
  m: ['/tables/merges', 'Running merges'],
  t: ['/tables/tables-overview', 'Tables'],
}

/** Keys that work wherever nobody types, unless somebody turned them off. Those of `g` wait for the second letter. */
export const shortcuts: readonly Shortcut[] = [
  { keys: ['?'], does: 'Show these shortcuts', act: () => dialogs.show('shortcuts') },
  { keys: [','], does: 'Settings', act: () => dialogs.show('settings') },
  { keys: ['/'], does: 'Search in the table of the page', act: focusSearch },
  { keys: ['a'], does: 'Ask the agent about the page', act: () => panel.open() },
  { keys: ['p'], does: 'Pause refreshing, or go on', act: () => void view.setPaused(!view.paused) },
  { keys: ['c'], does: 'Compare with the time before', act: () => void view.setComparing(!view.comparing) },
  { keys: ['['], does: 'The range before', act: () => void view.shift(-1) },
  { keys: [']'], does: 'The range after', act: () => void view.shift(1) },
  { keys: ['-'], does: 'A range twice as long', act: () => void view.zoomOut() },
  ...Object.entries(pages).map(([letter, [path, title]]) => ({ keys: ['g', letter], does: title, act: go(path) })),
]

/** The second letter must follow within this time. */
const patienceMs = 1_500

/** Listens for keys; gives what ends that. */
export const listenForKeys = (): (() => void) => {
  let first = ''
  let timer: ReturnType<typeof setTimeout> | undefined
  const listen = (event: KeyboardEvent) => {
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k') {
      event.preventDefault()
      return dialogs.show('palette')
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
      timer = setTimeout(() => (first = ''), patienceMs)
    }
  }
  document.addEventListener('keydown', listen)
  return () => {
    clearTimeout(timer)
    document.removeEventListener('keydown', listen)
  }
}

/** Where somebody types, or a dialog is open, keys mean what they mean there. */
const isBusy = (target: EventTarget | null): boolean =>
  document.querySelector('dialog[open], [role=dialog], [role=alertdialog]') !== null ||
  (target instanceof HTMLElement &&
    (target.isContentEditable || ['INPUT', 'TEXTAREA', 'SELECT'].includes(target.tagName)))
