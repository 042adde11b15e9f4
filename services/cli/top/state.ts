import type { RunningQuery } from './running-query.ts'

/** The columns by which queries can be sorted, in the order of the keys `<` and `>`. */
export const sortColumns = ['elapsed', 'memory', 'cpu', 'rows', 'user', 'host'] as const
export type SortColumn = (typeof sortColumns)[number]

/** What the screen shows: the list, a prompt above its last line, or another page. */
type Mode = 'list' | 'filter' | 'confirm' | 'details' | 'help'

/** Everything that the screen depends on. */
export interface TopState {
  queries: readonly RunningQuery[]
  sort: SortColumn
  isDescending: boolean
  filter: string
  /** Host and id of the selected query, which may have ended. */
  selected: string | null
  isPaused: boolean
  mode: Mode
  /** The query to kill or to show. It stays the same while the list changes. */
  target: RunningQuery | null
  /** The outcome of the last action. */
  message: string | null
  /** Why the last refresh failed; null if it succeeded. */
  failure: string | null
  updatedAtMs: number | null
}

/** What a key causes outside of the state. */
export type Effect = { kind: 'quit' } | { kind: 'refresh' } | { kind: 'kill'; query: RunningQuery }

/** A pressed key: its name, or the character that it types. */
export interface Key {
  name: string
  text: string
}

/** Returns the state before the first refresh. */
export const createTopState = (): TopState => ({
  queries: [],
  sort: 'elapsed',
  isDescending: true,
  filter: '',
  selected: null,
  isPaused: false,
  mode: 'list',
  target: null,
  message: null,
  failure: null,
  updatedAtMs: null,
})

/** Returns the identity of a query. Ids are unique only within a host. */
export const identify = ({ hostId, queryId }: RunningQuery): string => `${hostId} ${queryId}`

/** Returns the queries that match the filter, in the selected order. */
export const listShown = ({ queries, filter, sort, isDescending }: TopState): RunningQuery[] => {
  const wanted = filter.trim().toLowerCase()
  const matching = wanted === '' ? [...queries] : queries.filter((query) => textOf(query).includes(wanted))
  const compare = comparisons[sort]
  return matching.toSorted((one, other) => (isDescending ? compare(other, one) : compare(one, other)))
}

const textOf = ({ query, user, host, queryId, kind }: RunningQuery): string =>
  `${query} ${user} ${host} ${queryId} ${kind}`.toLowerCase()

const comparisons: Readonly<Record<SortColumn, (one: RunningQuery, other: RunningQuery) => number>> = {
  elapsed: (one, other) => one.elapsedSeconds - other.elapsedSeconds,
  memory: (one, other) => one.memoryBytes - other.memoryBytes,
  cpu: (one, other) => one.cpuSeconds - other.cpuSeconds,
  rows: (one, other) => one.readRows - other.readRows,
  user: (one, other) => one.user.localeCompare(other.user),
  host: (one, other) => one.host.localeCompare(other.host),
}

/** Returns the position of the selected query in the shown ones; the first if it has ended. */
export const findSelectedIndex = (shown: readonly RunningQuery[], { selected }: TopState): number =>
  Math.max(
    0,
    shown.findIndex((query) => identify(query) === selected),
  )

/** Returns the state after a key, and what else the key causes. */
export const pressKey = (state: TopState, key: Key): { state: TopState; effect?: Effect } => {
  if (key.name === 'ctrl-c') return { state, effect: { kind: 'quit' } }
  switch (state.mode) {
    case 'filter':
      return { state: editFilter(state, key) }
    case 'confirm':
      return confirmKill(state, key)
    case 'details':
    case 'help':
      return { state: { ...state, mode: 'list', target: null } }
    case 'list':
      return pressListKey({ ...state, message: null }, key)
  }
}

const editFilter = (state: TopState, { name, text }: Key): TopState => {
  if (name === 'return') return { ...state, mode: 'list' }
  if (name === 'escape') return { ...state, mode: 'list', filter: '' }
  if (name === 'backspace') return { ...state, filter: state.filter.slice(0, -1) }
  return /^[^\p{Cc}]+$/u.test(text) ? { ...state, filter: state.filter + text } : state
}

const confirmKill = (state: TopState, { text }: Key): { state: TopState; effect?: Effect } => {
  const { target } = state
  const list = { ...state, mode: 'list', target: null } as const
  if (text.toLowerCase() !== 'y' || !target) return { state: { ...list, message: 'not killed' } }
  return { state: { ...list, message: `killing ${target.queryId} …` }, effect: { kind: 'kill', query: target } }
}

/** The number of queries that page keys skip. */
const pageLength = 10

const pressListKey = (state: TopState, { name, text }: Key): { state: TopState; effect?: Effect } => {
  const shown = listShown(state)
  const index = findSelectedIndex(shown, state)
  const target = shown[index]
  const moveTo = (to: number): { state: TopState } => {
    const query = shown[Math.max(0, Math.min(shown.length - 1, to))]
    return { state: { ...state, selected: query ? identify(query) : null } }
  }
  const actions: Readonly<Record<string, () => { state: TopState; effect?: Effect }>> = {
    up: () => moveTo(index - 1),
    k: () => moveTo(index - 1),
    down: () => moveTo(index + 1),
    j: () => moveTo(index + 1),
    pageup: () => moveTo(index - pageLength),
    pagedown: () => moveTo(index + pageLength),
    home: () => moveTo(0),
    end: () => moveTo(shown.length - 1),
    '<': () => ({ state: { ...state, sort: nextSort(state.sort, -1) } }),
    '>': () => ({ state: { ...state, sort: nextSort(state.sort, 1) } }),
    s: () => ({ state: { ...state, sort: nextSort(state.sort, 1) } }),
    r: () => ({ state: { ...state, isDescending: !state.isDescending } }),
    '/': () => ({ state: { ...state, mode: 'filter' } }),
    escape: () => ({ state: { ...state, filter: '' } }),
    p: () => togglePause(state),
    space: () => togglePause(state),
    x: () => ({ state: target ? { ...state, mode: 'confirm', target, selected: identify(target) } : state }),
    return: () => ({ state: target ? { ...state, mode: 'details', target, selected: identify(target) } : state }),
    '?': () => ({ state: { ...state, mode: 'help' } }),
    h: () => ({ state: { ...state, mode: 'help' } }),
    q: () => ({ state, effect: { kind: 'quit' } }),
  }
  return (actions[name] ?? actions[text])?.() ?? { state }
}

/** Ends or starts a pause. After a pause, the list is refreshed at once. */
const togglePause = (state: TopState): { state: TopState; effect?: Effect } =>
  state.isPaused
    ? { state: { ...state, isPaused: false }, effect: { kind: 'refresh' } }
    : { state: { ...state, isPaused: true } }

const nextSort = (sort: SortColumn, step: number): SortColumn => {
  const index = (sortColumns.indexOf(sort) + step + sortColumns.length) % sortColumns.length
  return sortColumns[index] ?? 'elapsed'
}
