import { goto } from '$app/navigation'
import { dialogs } from '#lib/state/dialogs.svelte.ts'
import { agentPanel } from '#lib/state/agent-panel.svelte.ts'
import { rangePresets } from '#lib/state/range.ts'
import type { Session } from '#lib/state/session.svelte.ts'
import { theme, themes } from '#lib/state/theme.svelte.ts'
import { toasts } from '#lib/state/toasts.svelte.ts'
import { view } from '#lib/state/view.svelte.ts'
import { copyFailureMessage, copyText } from './copy-text.ts'
import { listMenuTopics, filterMenuSections } from './menu.ts'
import type { PickListItem } from './pick-list-rows.ts'

/** An entry of the palette and its action. */
export interface PaletteEntry extends PickListItem {
  act: () => unknown
}

const go = (path: string) => () => goto(view.link(path))

/** Returns the entries that need no request. */
export const listStaticEntries = (session: Session): PaletteEntry[] => [
  ...pagePicks(session),
  ...cataloguePicks(session),
  ...(session.isOffered('AGENT') ? [agentPick] : []),
  ...session.hosts.map(({ id, name, host, tags, group }) => ({
    id: `host ${id}`,
    title: name,
    detail: [host, group].filter(Boolean).join(' · '),
    searchTerms: `host ${tags.join(' ')}`,
    group: 'Hosts',
    act: () => view.setHost(id),
  })),
  ...commands,
]

const pagePicks = (session: Session): PaletteEntry[] =>
  filterMenuSections(session).flatMap(({ pages }) =>
    pages.map(({ path, title, searchTerms }) => ({ id: path, title, searchTerms, group: 'Pages', act: go(path) })),
  )

const cataloguePicks = ({ catalogue }: Session): PaletteEntry[] => {
  if (!catalogue) return []
  const topics = listMenuTopics(catalogue)
  const titles = new Map(topics.map(({ id, title }) => [id, title]))
  const of = (kind: 'tables' | 'charts', group: string) =>
    catalogue[kind].map(({ name, title, topic, doc }) => ({
      id: `${kind} ${name}`,
      title,
      detail: `${titles.get(topic) ?? topic} · ${doc}`,
      searchTerms: name,
      group,
      act: go(`/${kind}/${name}`),
    }))
  return [
    ...topics.map(({ id, title }) => ({
      id: `topic ${id}`,
      title,
      searchTerms: id,
      group: 'Topics',
      act: go(`/topics/${id}`),
    })),
    ...of('tables', 'Table pages'),
    ...of('charts', 'Charts'),
  ]
}

const agentPick: PaletteEntry = {
  id: 'ask',
  title: 'Ask the agent about this page',
  searchTerms: 'assistant chat ai panel',
  group: 'Actions',
  act: () => agentPanel.open(),
}

const copyLink = async (): Promise<void> =>
  toasts.show((await copyText(location.href)) ? 'Link copied' : `${copyFailureMessage}: ${location.href}`)

const commands: readonly PaletteEntry[] = [
  { id: 'add', title: 'Add host…', searchTerms: 'connection database', act: () => dialogs.show('add-host') },
  {
    id: 'settings',
    title: 'Settings…',
    searchTerms: 'theme zone units palette density',
    act: () => dialogs.show('settings'),
  },
  { id: 'shortcuts', title: 'Keyboard shortcuts…', act: () => dialogs.show('shortcuts') },
  { id: 'pause', title: 'Pause or resume refresh', act: () => view.setPaused(!view.paused) },
  { id: 'compare', title: 'Compare with previous period', act: () => view.setComparing(!view.comparing) },
  { id: 'copy', title: 'Copy link to this page', act: copyLink },
  ...themes.map((each) => ({ id: `theme ${each}`, title: `Theme: ${each}`, act: () => (theme.current = each) })),
  ...rangePresets.map(({ minutes, label }) => ({
    id: `range ${minutes}`,
    title: label,
    searchTerms: 'time range',
    act: () => view.setRange({ kind: 'last', minutes }),
  })),
].map((command) => ({ group: 'Actions', ...command }))

/** Returns the entries for a text in the format of a query id or a fingerprint. */
export const findEntriesByFormat = (typed: string): PaletteEntry[] => {
  const text = typed.trim()
  const group = 'By id'
  const isUuid = /^[\da-f]{8}(-[\da-f]{0,12}){1,4}$/i.test(text)
  const isHash = /^\d{6,20}$/.test(text)
  const query = {
    id: 'query',
    title: `Query ${text}`,
    searchTerms: text,
    group,
    act: go(`/queries/${encodeURIComponent(text)}`),
  }
  const pattern = {
    id: 'pattern',
    title: `Fingerprint ${text}`,
    searchTerms: text,
    group,
    act: go(`/fingerprints/${text}`),
  }
  return [...(isHash ? [pattern] : []), ...(isUuid ? [query] : [])]
}

/** Returns an entry for a custom query id. As any word may be a query id, the entry comes last. */
export const createQueryIdEntry = (typed: string): PaletteEntry[] => {
  const text = typed.trim()
  if (!/^\S{6,128}$/.test(text) || findEntriesByFormat(text).length > 0) return []
  const act = go(`/queries/${encodeURIComponent(text)}`)
  return [{ id: 'named query', title: 'Query with this id', detail: text, group: 'By id', act }]
}
