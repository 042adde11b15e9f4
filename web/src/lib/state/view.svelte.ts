import { goto } from '$app/navigation'
import { page } from '$app/state'
import {
  defaultMinutes,
  selectInterval,
  readRange,
  shiftRange,
  writeRange,
  zoomOutRange,
  type TimeRange,
} from './range.ts'
import { readComparison, writeComparison, type Comparison } from './comparison.ts'
import { parseSameOriginPath } from '#proto/same-origin-path.ts'
import { readConnectionId } from '#lib/api/browser-connections.ts'
import { preferences } from './preferences.ts'
import { readRefresh, writeRefresh } from './refresh.ts'
import { readZone, type ZoneChoice } from './zone.ts'

/** Parameters that links preserve across pages; all others belong to one page. */
const preservedParameters = [
  'host',
  'connection',
  'range',
  'from',
  'to',
  'zone',
  'refresh',
  'paused',
  'compare',
  'own',
] as const

/** Returns the default range of the current page, in minutes. */
let pageMinutes = (): number => defaultMinutes

/** Returns how far the clock of the host is ahead of the browser's, in milliseconds. */
let skewMs = (): number => 0

/** The view state shared by all pages. It is stored only in the URL. */
export const view = {
  /** Position of the host in the list; negative for a connection stored on the server. */
  get host(): number {
    const host = Number(page.url.searchParams.get('host') ?? 0)
    return Number.isInteger(host) ? host : 0
  },
  /** The id of the browser connection that the page shows instead of a configured host; null if there is none. */
  get connection(): string | null {
    return readConnectionId(page.url.searchParams)
  },
  /** The range that charts compare with; null without comparison. */
  get comparison(): Comparison | null {
    return readComparison(page.url.searchParams)
  },
  get comparing(): boolean {
    return view.comparison !== null
  },
  /** The selected range; null where the page uses its default. */
  get chosenRange(): TimeRange | null {
    return readRange(page.url.searchParams)
  },
  get range(): TimeRange {
    return view.chosenRange ?? { kind: 'last', minutes: pageMinutes() }
  },
  get interval() {
    return selectInterval(view.range)
  },
  get zone(): ZoneChoice {
    return readZone(page.url.searchParams, preferences.current.zone)
  },
  /** Whether tables, charts and key metrics include the statements of Watchhouse itself. */
  get showsOwn(): boolean {
    const chosen = page.url.searchParams.get('own')
    return chosen === null ? preferences.current.own === 'shown' : chosen === '1'
  },
  get refreshSeconds(): number {
    return readRefresh(page.url.searchParams)
  },
  get paused(): boolean {
    return page.url.searchParams.get('paused') === '1'
  },
  /** The refresh interval for current state, in milliseconds; false while paused or disabled. */
  get refreshMs(): number | false {
    return !this.paused && this.refreshSeconds > 0 ? this.refreshSeconds * 1000 : false
  },
  /** The refresh interval for data of the time range; false for absolute ranges. */
  get rangeRefreshMs(): number | false {
    return this.range.kind === 'last' && this.refreshMs
  },

  /** The path of the current page with its own parameters, without host, time range and position in a list. */
  get ownPath(): string {
    const search = new URLSearchParams([...page.url.searchParams])
    for (const name of [...preservedParameters, 'offset']) search.delete(name)
    return search.size === 0 ? page.url.pathname : `${page.url.pathname}?${search}`
  },

  /** Selects a host, which ends a comparison of several. */
  setHost: (host: number) => changeUrlParameters({ host: String(host), hosts: null }),
  /** Selects a range and returns to the first page of rows. */
  setRange: (range: TimeRange) => changeUrlParameters({ ...writeRange(range, pageMinutes()), offset: null }),
  /** Sets the function that returns the default range of the page, in hours. */
  followPages: (hours: () => number | undefined) => {
    pageMinutes = () => (hours() ?? defaultMinutes / 60) * 60
  },
  /** Sets the function that returns the clock skew of the host, in milliseconds. */
  followClock: (ofHost: () => number) => {
    skewMs = ofHost
  },
  /** Converts an instant of the browser's clock to that of the host, in epoch milliseconds. */
  hostTime: (nowMs: number): number => nowMs + skewMs(),
  /** Shifts the range by multiples of its length; negative values shift it back. */
  shift: (parts: number) => view.setRange(shiftRange(view.range, parts, view.hostTime(Date.now()))),
  zoomOut: () => view.setRange(zoomOutRange(view.range, view.hostTime(Date.now()))),
  setZone: (zone: ZoneChoice) => changeUrlParameters({ zone: zone === preferences.current.zone ? null : zone }),
  setShowsOwn: (shown: boolean) =>
    changeUrlParameters({
      own: shown === (preferences.current.own === 'shown') ? null : shown ? '1' : '0',
      offset: null,
    }),
  setRefresh: (seconds: number) => changeUrlParameters({ refresh: writeRefresh(seconds), paused: null }),
  setComparison: (comparison: Comparison | null) => changeUrlParameters({ compare: writeComparison(comparison) }),
  setComparing: (comparing: boolean) => view.setComparison(comparing ? 'previous' : null),
  setPaused: (paused: boolean) => changeUrlParameters({ paused: paused ? '1' : null }),

  /**
   * Returns a link within the application that preserves the view, with further parameters. Host and time in the target
   * take precedence. Targets may come from data, so one that leads to another site becomes the start page.
   */
  link(target: string, more: Record<string, string> = {}): string {
    const [path = '', own] = (parseSameOriginPath(target) ?? '/').split('?')
    const search = new URLSearchParams(own)
    const named = new Set(search.keys())
    for (const name of preservedParameters) {
      const value = page.url.searchParams.get(name)
      if (value !== null && !named.has(name)) search.set(name, value)
    }
    if (!search.has('host')) search.set('host', '0')
    for (const [name, value] of Object.entries(more)) search.set(name, value)
    return `${path}?${search}`
  },
  /** Returns a link to an interval in epoch milliseconds, which replaces the range of this page. */
  linkToInterval(target: string, fromMs: number, toMs: number, more: Record<string, string> = {}): string {
    const [from, to] = [Math.floor(fromMs / 1000), Math.ceil(toMs / 1000)]
    const url = new URL(
      view.link(target, { ...more, from: String(from), to: String(Math.max(to, from + 1)) }),
      page.url.href,
    )
    for (const name of ['range', 'compare']) url.searchParams.delete(name)
    return `${url.pathname}${url.search}`
  },
}

/** New parameter values; null removes a parameter. */
export type UrlParameterChange = Record<string, string | readonly string[] | null>

/** Writes parameters to the URL. Adds a history entry unless `replace` is set, which text input uses. */
export const changeUrlParameters = (parameters: UrlParameterChange, { replace = false } = {}): Promise<void> => {
  const url = new URL(page.url.href)
  for (const [name, value] of Object.entries(parameters)) {
    url.searchParams.delete(name)
    for (const each of value === null ? [] : [value].flat()) url.searchParams.append(name, each)
  }
  if (url.href === page.url.href) return Promise.resolve()
  return goto(url, { replace, reset: false })
}
