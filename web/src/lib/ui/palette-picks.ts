import { goto } from '$app/navigation'
import { dialogs } from '#lib/state/dialogs.svelte.ts'
import { panel } from '#lib/state/panel.svelte.ts'
import { presets } from '#lib/state/range.ts'
import type { Session } from '#lib/state/session.svelte.ts'
import { theme, themes } from '#lib/state/theme.svelte.ts'
import { view } from '#lib/state/view.svelte.ts'
import { copyText } from './copy-text.ts'
import { menuTopics, offeredSections } from './menu.ts'
import type { Pick } from './pick.ts'

/** What the palette offers: something to be found, and what happens then. */
export interface PalettePick extends Pick {
  act: () => unknown
}

const go = (path: string) => () => goto(view.link(path))

/** Everything that is known without asking. */
export const knownPicks = (session: Session): PalettePick[] => [
  ...pagePicks(session),
  ...cataloguePicks(session),
  ...(session.isOffered('AGENT') ? [askingPick] : []),
  ...session.hosts.map(({ id, name, host, tags, group }) => ({
    id: `host ${id}`,
    title: name,
    detail: [host, group].filter(Boolean).join(' · '),
    words: `host ${tags.join(' ')}`,
    group: 'Hosts',
    act: () => view.setHost(id),
  })),
  ...deeds,
]

const pagePicks = (session: Session): PalettePick[] =>
  offeredSections(session).flatMap(({ pages }) =>
    pages.map(({ path, title, words }) => ({ id: path, title, words, group: 'Pages', act: go(path) })),
  )

const cataloguePicks = ({ catalogue }: Session): PalettePick[] => {
  if (!catalogue) return []
  const topics = menuTopics(catalogue)
  const titles = new Map(topics.map(({ id, title }) => [id, title]))
  const of = (kind: 'tables' | 'charts', group: string) =>
    catalogue[kind].map(({ name, title, topic, doc }) => ({
      id: `${kind} ${name}`,
      title,
      detail: `${titles.get(topic) ?? topic} · ${doc}`,
      words: name,
      group,
      act: go(`/${kind}/${name}`),
    }))
  return [
    ...topics.map(({ id, title }) => ({
      id: `topic ${id}`,
      title,
      words: id,
      group: 'Topics',
      act: go(`/topics/${id}`),
    })),
    ...of('tables', 'Table pages'),
    ...of('charts', 'Charts'),
  ]
}

const askingPick: PalettePick = {
  id: 'ask',
  title: 'Ask the agent about this page',
  words: 'assistant chat ai panel',
  group: 'Actions',
  act: () => panel.open(),
}

const deeds: readonly PalettePick[] = [
  { id: 'add', title: 'Add a host…', words: 'connection database', act: () => dialogs.show('add-host') },
  {
    id: 'settings',
    title: 'Settings…',
    words: 'theme zone units palette density',
    act: () => dialogs.show('settings'),
  },
  { id: 'shortcuts', title: 'Keyboard shortcuts…', act: () => dialogs.show('shortcuts') },
  { id: 'pause', title: 'Pause refreshing, or go on', act: () => view.setPaused(!view.paused) },
  { id: 'compare', title: 'Compare with the time before', act: () => view.setComparing(!view.comparing) },
  { id: 'copy', title: 'Copy the link to this page', act: () => copyText(location.href) },
  ...themes.map((each) => ({ id: `theme ${each}`, title: `Theme: ${each}`, act: () => (theme.current = each) })),
  ...presets.map(({ hours, label }) => ({
    id: `range ${hours}`,
    title: label,
    words: 'time range',
    act: () => view.setRange({ kind: 'last', hours }),
  })),
].map((deed) => ({ group: 'Actions', ...deed }))

/** What text may be by its form alone: the id of a query, or the fingerprint of a statement. */
export const picksByForm = (typed: string): PalettePick[] => {
  const text = typed.trim()
  const group = 'By its id'
  const isUuid = /^[\da-f]{8}(-[\da-f]{0,12}){1,4}$/i.test(text)
  const isHash = /^\d{6,20}$/.test(text)
  const query = {
    id: 'query',
    title: `Query ${text}`,
    words: text,
    group,
    act: go(`/queries/${encodeURIComponent(text)}`),
  }
  const pattern = { id: 'pattern', title: `Fingerprint ${text}`, words: text, group, act: go(`/fingerprints/${text}`) }
  return [...(isHash ? [pattern] : []), ...(isUuid ? [query] : [])]
}

/** Programs name their queries as they like: a word may be such a name, and is offered last. */
export const pickByName = (typed: string): PalettePick[] => {
  const text = typed.trim()
  if (!/^\S{6,128}$/.test(text) || picksByForm(text).length > 0) return []
  const act = go(`/queries/${encodeURIComponent(text)}`)
  return [{ id: 'named query', title: 'Query of this id', detail: text, group: 'By its id', act }]
}
