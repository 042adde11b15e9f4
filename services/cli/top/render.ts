import { formatBytes, formatCount, formatSeconds } from '../output/format.ts'
import type { Tone } from '../output/output.ts'
import { fitWidth, padToWidth, toSafeLine, toSafeText } from '../output/terminal-text.ts'
import type { RunningQuery } from './running-query.ts'
import { findSelectedIndex, listShown, type SortColumn, type TopState } from './state.ts'

/** The size of the terminal and what does not change while the command runs. */
export interface TopView {
  columns: number
  rows: number
  hosts: readonly string[]
  intervalMs: number
  /** Formats the time of the last refresh. */
  formatTime(instantMs: number): string
  paint(text: string, tone: Tone | undefined): string
  /** Marks the header and the selected line. */
  invert(text: string): string
}

interface QueryColumn {
  title: string
  width: number
  sort?: SortColumn
  isRight?: boolean
  /** Columns with a higher number are left out first on narrow terminals. */
  priority: number
  value(query: RunningQuery): string
}

const allColumns: readonly QueryColumn[] = [
  { title: 'HOST', width: 16, sort: 'host', priority: 1, value: ({ host }) => host },
  {
    title: 'ELAPSED',
    width: 8,
    sort: 'elapsed',
    isRight: true,
    priority: 0,
    value: ({ elapsedSeconds }) => formatSeconds(elapsedSeconds),
  },
  { title: 'USER', width: 14, sort: 'user', priority: 2, value: ({ user }) => user },
  {
    title: 'MEMORY',
    width: 9,
    sort: 'memory',
    isRight: true,
    priority: 0,
    value: ({ memoryBytes }) => formatBytes(memoryBytes),
  },
  {
    title: 'CPU TIME',
    width: 8,
    sort: 'cpu',
    isRight: true,
    priority: 3,
    value: ({ cpuSeconds }) => formatSeconds(cpuSeconds),
  },
  { title: 'ROWS', width: 7, sort: 'rows', isRight: true, priority: 4, value: ({ readRows }) => formatCount(readRows) },
  {
    title: 'DONE',
    width: 5,
    isRight: true,
    priority: 5,
    value: ({ progress }) => (progress === null ? '' : `${Math.floor(progress)}%`),
  },
]

/** The least width of the statement. */
const minQueryWidth = 24
/** Lines above and below the list: a summary of two lines, the header and the footer. */
const frameLines = 4
/** Lower terminals have no summary, so that queries stay visible. */
const minRowsOfSummary = 7

/** Returns the lines of the screen. None is wider than the terminal. */
export const renderTop = (state: TopState, view: TopView): string[] => {
  const lines =
    state.mode === 'help'
      ? helpLines.map((line) => fitWidth(line, view.columns))
      : state.mode === 'details' && state.target
        ? renderDetails(state.target, view)
        : renderList(state, view)
  const shown = lines.slice(0, Math.max(0, view.rows - 1))
  while (shown.length < view.rows - 1) shown.push('')
  return [...shown, renderFooter(state, view)].slice(0, view.rows)
}

const renderList = (state: TopState, view: TopView): string[] => {
  const shown = listShown(state)
  const columns = chooseColumns(view)
  const hasSummary = view.rows >= minRowsOfSummary
  const height = Math.max(1, view.rows - (hasSummary ? frameLines : frameLines - 2))
  const selected = findSelectedIndex(shown, state)
  const first = Math.max(0, Math.min(selected - Math.floor(height / 2), shown.length - height))
  const header = view.invert(padToWidth(formatHeader(columns, state), view.columns))
  const body = shown.slice(first, first + height).map((query, index) => {
    const line = padToWidth(formatQuery(columns, query), view.columns)
    if (first + index === selected) return view.invert(line)
    return query.isCancelled ? view.paint(line, 'warning') : line
  })
  const reason = state.updatedAtMs === null ? 'Loading running queries…' : 'No running queries.'
  const empty = state.filter === '' ? reason : 'No running queries match the filter.'
  return [
    ...(hasSummary ? renderSummary(state, shown, view) : []),
    header,
    ...(body.length > 0 ? body : [view.paint(fitWidth(empty, view.columns), 'muted')]),
  ]
}

const chooseColumns = ({ columns: width, hosts }: TopView): QueryColumn[] => {
  let chosen = allColumns.filter(({ title }) => title !== 'HOST' || hosts.length > 1)
  const used = () => chosen.reduce((total, column) => total + column.width + 1, 0)
  while (used() + minQueryWidth > width && chosen.length > 1) {
    const last = Math.max(...chosen.map(({ priority }) => priority))
    if (last === 0) break
    chosen = chosen.filter(({ priority }) => priority !== last)
  }
  return chosen
}

const formatHeader = (columns: readonly QueryColumn[], { sort, isDescending }: TopState): string => {
  const titles = columns.map(({ title, width, isRight, sort: own }) =>
    padToWidth(own === sort ? `${title}${isDescending ? '↓' : '↑'}` : title, width, isRight),
  )
  return [...titles, 'QUERY'].join(' ')
}

const formatQuery = (columns: readonly QueryColumn[], query: RunningQuery): string => {
  const cells = columns.map(({ value, width, isRight }) => padToWidth(toSafeLine(value(query)), width, isRight))
  return [...cells, `${query.isCancelled ? '(killed) ' : ''}${toSafeLine(query.query.slice(0, maxQueryLength))}`].join(
    ' ',
  )
}

/** Characters of a statement that can be visible. Longer ones need not be cleaned on every refresh. */
const maxQueryLength = 600

const renderSummary = (state: TopState, shown: readonly RunningQuery[], view: TopView): string[] => {
  const { updatedAtMs, failure, filter, isPaused } = state
  const total = (read: (query: RunningQuery) => number) => shown.reduce((sum, query) => sum + read(query), 0)
  const longest = Math.max(0, ...shown.map(({ elapsedSeconds }) => elapsedSeconds))
  const hosts = view.hosts.length === 1 ? (view.hosts[0] ?? '') : `${view.hosts.length} hosts`
  const time = updatedAtMs === null ? '' : view.formatTime(updatedAtMs)
  const head = ['watchhouse top', toSafeLine(hosts), isPaused ? 'paused' : `every ${view.intervalMs / 1000} s`, time]
  const figures = [
    filter === '' ? `${shown.length} running` : `${shown.length} of ${state.queries.length} running`,
    `memory ${formatBytes(total(({ memoryBytes }) => memoryBytes))}`,
    `longest ${formatSeconds(longest)}`,
    ...(filter === '' ? [] : [`filter "${toSafeLine(filter)}"`]),
  ]
  const second = failure === null ? figures.join('  ') : toSafeLine(failure)
  return [
    view.paint(fitWidth(head.filter(Boolean).join(' · '), view.columns), 'strong'),
    view.paint(fitWidth(second, view.columns), failure === null ? 'muted' : 'critical'),
  ]
}

const renderFooter = (state: TopState, { columns, rows, paint }: TopView): string => {
  const { mode, filter, target, message, failure } = state
  if (mode === 'filter') return fitWidth(`Filter: ${toSafeLine(filter)}▏ Enter to apply, Esc to clear`, columns)
  if (mode === 'confirm' && target)
    return paint(
      fitWidth(
        `Kill query ${target.queryId} of ${toSafeLine(target.user)} on ${toSafeLine(target.host)}? y/N`,
        columns,
      ),
      'critical',
    )
  if (mode === 'details' || mode === 'help') return paint(fitWidth('Press any key to return.', columns), 'muted')
  if (message !== null) return fitWidth(toSafeLine(message), columns)
  // Without a summary, the footer is the only place for a failure.
  if (failure !== null && rows < minRowsOfSummary) return paint(fitWidth(toSafeLine(failure), columns), 'critical')
  return paint(fitWidth(chooseHints(columns).join('  '), columns), 'muted')
}

const hints = ['↑↓ select', 'Enter details', 'x kill', '/ filter', 's sort', 'r reverse', 'p pause']
const lastHints = ['? help', 'q quit']

/** Returns the hints that fit, always with those that lead to the others. */
const chooseHints = (columns: number): string[] => {
  for (let count = hints.length; count > 0; count -= 1) {
    const chosen = [...hints.slice(0, count), ...lastHints]
    if (chosen.join('  ').length <= columns) return chosen
  }
  return lastHints
}

const renderDetails = (query: RunningQuery, { columns, paint }: TopView): string[] => {
  const facts: [name: string, value: string][] = [
    ['Query id', query.queryId],
    ['Host', query.host],
    ['User', query.user],
    ['Kind', query.kind],
    ['Elapsed', formatSeconds(query.elapsedSeconds)],
    ['Memory', formatBytes(query.memoryBytes)],
    ['CPU time', formatSeconds(query.cpuSeconds)],
    ['Read', `${formatCount(query.readRows)} rows, ${formatBytes(query.readBytes)}`],
    ['Threads', String(query.threads)],
  ]
  const lines = facts.map(([name, value]) => fitWidth(`${name.padEnd(10)}${toSafeLine(value)}`, columns))
  return [paint(fitWidth('Query', columns), 'strong'), ...lines, '', ...wrap(toSafeText(query.query), columns)]
}

const wrap = (text: string, columns: number): string[] =>
  text.split('\n').flatMap((line) => {
    const parts: string[] = []
    for (let from = 0; from === 0 || from < line.length; from += columns)
      parts.push(fitWidth(line.slice(from, from + columns), columns))
    return parts
  })

const helpLines = [
  'Keys',
  '',
  '↑ ↓ j k        select a query',
  'PgUp PgDn      move by ten queries; Home and End to the first and last',
  'Enter          show the whole query',
  'x              kill the selected query, after a confirmation',
  '/              filter by text, user, host or query id; Esc clears the filter',
  's < >          sort by the next or previous column',
  'r              reverse the order',
  'p Space        pause and continue',
  'q Ctrl-C       quit',
]
