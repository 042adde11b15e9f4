import { goto } from '$app/navigation'
import { dialogs } from '#lib/state/dialogs.svelte.ts'
import { agentPanel } from '#lib/state/agent-panel.svelte.ts'
import { rangePresets } from '#lib/state/range.ts'
import type { ListedPage } from '#lib/state/page-list.ts'
import type { Session } from '#lib/state/session.svelte.ts'
import { theme, themes } from '#lib/state/theme.svelte.ts'
import { toasts } from '#lib/state/toasts.svelte.ts'
import { view } from '#lib/state/view.svelte.ts'
import { visitedPages } from '#lib/state/visited-pages.svelte.ts'
import { copyFailureMessage, copyText } from './copy-text.ts'
import { filterMenuGroups, findTopicGroup, listGroupPages, listMenuTopics } from './menu.ts'
import { menuGroups } from './menu-groups.ts'
import { menuTexts } from './menu-texts.ts'
import type { PickListItem } from './pick-list-rows.ts'

/** An entry of the palette and its action. */
export interface PaletteEntry extends PickListItem {
  act: () => unknown
}

const go = (path: string) => () => goto(view.link(path))

/** Returns the entries that need no request. Starred and recent pages come first, and no page occurs twice. */
export const listStaticEntries = (session: Session): PaletteEntry[] => {
  const pages = [
    ...listKeptPages(visitedPages.starred, 'Starred'),
    ...listKeptPages(visitedPages.recent, 'Recent'),
    ...pagePicks(session),
    ...cataloguePicks(session),
  ]
  return [
    ...pages.filter(({ id }, index) => pages.findIndex((page) => page.id === id) === index),
    ...(session.isOffered('AGENT') ? [agentPick] : []),
    ...session.hosts.map(({ id, name, host, tags, group }) => ({
      id: `host ${id}`,
      title: name,
      detail: ['Switch to this host', host, group].filter(Boolean).join(' · '),
      searchTerms: `host ${tags.join(' ')}`,
      group: 'Hosts',
      act: () => view.setHost(id),
    })),
    ...listCommands(),
  ]
}

const listKeptPages = (pages: readonly ListedPage[], group: string): PaletteEntry[] =>
  pages.map(({ path, title }) => ({ id: path, title, detail: path.split('?', 1)[0] ?? '', group, act: go(path) }))

const pagePicks = (session: Session): PaletteEntry[] =>
  filterMenuGroups(session).flatMap((group) =>
    listGroupPages(group).map(({ path, title }) => ({
      id: path,
      title,
      detail: group.title,
      // The path contains further terms, such as `topics`.
      searchTerms: `${menuTexts[path]?.searchTerms ?? ''} ${path}`,
      group: 'Pages',
      act: go(path),
    })),
  )

const cataloguePicks = ({ catalogue }: Session): PaletteEntry[] => {
  if (!catalogue) return []
  const groupTitles = new Map(menuGroups.map(({ id, title }) => [id, title]))
  const topics = listMenuTopics(catalogue)
  const titles = new Map(topics.map(({ id, title }) => [id, title]))
  const of = (kind: 'tables' | 'charts', group: string) =>
    catalogue[kind].map(({ name, title, topic, doc }) => ({
      id: `/${kind}/${name}`,
      title,
      detail: `${titles.get(topic) ?? topic} · ${doc}`,
      searchTerms: name,
      group,
      act: go(`/${kind}/${name}`),
    }))
  return [
    { id: '/browse', title: 'All pages', searchTerms: 'catalogue browse', group: 'Pages', act: go('/browse') },
    ...topics.map(({ id, title }) => ({
      id: `/topics/${id}`,
      title,
      detail: groupTitles.get(findTopicGroup(id)) ?? '',
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

const listCommands = (): PaletteEntry[] =>
  [
    ...(visitedPages.current
      ? [
          {
            id: 'star',
            title: visitedPages.isCurrentStarred ? 'Remove star from this page' : 'Star this page',
            searchTerms: 'favourite favorite bookmark unstar',
            act: visitedPages.toggleStar,
          },
        ]
      : []),
    { id: 'add', title: 'Add host…', searchTerms: 'connection database', act: () => dialogs.show('add-host') },
    {
      id: 'settings',
      title: 'Settings…',
      searchTerms: 'preferences theme zone units palette density',
      act: () => dialogs.show('settings'),
    },
    { id: 'shortcuts', title: 'Keyboard shortcuts…', act: () => dialogs.show('shortcuts') },
    {
      id: 'pause',
      title: view.paused ? 'Resume refresh' : 'Pause refresh',
      searchTerms: 'auto-refresh',
      act: () => view.setPaused(!view.paused),
    },
    {
      id: 'compare',
      title: view.comparing ? 'Stop comparing with previous period' : 'Compare with previous period',
      act: () => view.setComparing(!view.comparing),
    },
    {
      id: 'copy',
      title: 'Copy link to this page',
      searchTerms: 'share url address',
      act: copyLink,
    },
    ...themes.map((each) => ({ id: `theme ${each}`, title: `Theme: ${each}`, act: () => (theme.current = each) })),
    ...rangePresets.map(({ minutes, label }) => ({
      id: `range ${minutes}`,
      title: label,
      searchTerms: 'time range',
      act: () => view.setRange({ kind: 'last', minutes }),
    })),
    { id: 'range before', title: 'Previous time range', act: () => view.shift(-1) },
    { id: 'range out', title: 'Zoom out', searchTerms: 'time range', act: () => view.zoomOut() },
  ].map((command) => ({ group: 'Actions', ...command }))

/** Returns the entries for a text in the format of a query id, a fingerprint or a table with its database. */
export const findEntriesByFormat = (typed: string): PaletteEntry[] => {
  const text = typed.trim()
  const entry = (kind: string, title: string, path: string): PaletteEntry => ({
    id: `${kind} ${text}`,
    title,
    searchTerms: text,
    group: 'Open',
    act: go(path),
  })
  const isUuid = /^[\da-f]{8}(-[\da-f]{0,12}){1,4}$/i.test(text)
  const isHash = /^\d{6,20}$/.test(text)
  const [, database, table] = /^([a-z_]\w*)\.([a-z_]\w*)$/i.exec(text) ?? []
  return [
    ...(isHash ? [entry('pattern', `Open fingerprint ${text}`, `/fingerprints/${text}`)] : []),
    ...(isUuid ? [entry('query', `Open query ${text}`, `/queries/${encodeURIComponent(text)}`)] : []),
    ...(database && table
      ? [entry('table', `Open table ${text} in Explorer`, `/explorer?${new URLSearchParams({ database, table })}`)]
      : []),
  ]
}

/** Returns an entry for a custom query id. As any word may be a query id, the entry comes last. */
export const createQueryIdEntry = (typed: string): PaletteEntry[] => {
  const text = typed.trim()
  if (!/^\S{6,128}$/.test(text) || findEntriesByFormat(text).length > 0) return []
  const act = go(`/queries/${encodeURIComponent(text)}`)
  return [{ id: 'named query', title: 'Open query with this id', detail: text, group: 'Open', act }]
}
