import { goto } from '$app/navigation'
import { page } from '$app/state'
import { defaultHours, intervalOf, readRange, shifted, writeRange, zoomedOut, type Range } from './range.ts'
import { ownPathOf } from '#proto/own-path.ts'
import { connectionOf } from '#lib/api/brought-hosts.ts'
import { preferences } from './preferences.ts'
import { readRefresh, writeRefresh } from './refresh.ts'
import { readZone, type ZoneChoice } from './zone.ts'

/** Parameters that follow the reader from page to page; the others belong to one page. */
const kept = ['host', 'connection', 'range', 'from', 'to', 'zone', 'refresh', 'paused', 'compare'] as const

/** How far this page looks back until its reader says otherwise. */
let usualHours = (): number => defaultHours

/** How far the clock of the host is ahead of this one. */
let skewMs = (): number => 0

/** What every page shows by: read from the URL, written to the URL, kept nowhere else. */
export const view = {
  /** Position of the host in the list of hosts; negative for a connection that its owner keeps. */
  get host(): number {
    const host = Number(page.url.searchParams.get('host') ?? 0)
    return Number.isInteger(host) ? host : 0
  },
  /** A host that only this browser knows, in place of those of the list. */
  get connection(): string | null {
    return connectionOf(page.url.searchParams)
  },
  /** Whether the same length of time before the range is drawn too. */
  get comparing(): boolean {
    return page.url.searchParams.get('compare') === '1'
  },
  /** What the reader chose; null where the page shows what it usually shows. */
  get chosenRange(): Range | null {
    return readRange(page.url.searchParams)
  },
  get range(): Range {
    return view.chosenRange ?? { kind: 'last', hours: usualHours() }
  },
  get interval() {
    return intervalOf(view.range)
  },
  get zone(): ZoneChoice {
    return readZone(page.url.searchParams, preferences.current.zone)
  },
  get refreshSeconds(): number {
    return readRefresh(page.url.searchParams)
  },
  get paused(): boolean {
    return page.url.searchParams.get('paused') === '1'
  },
  /** Milliseconds between refreshes of what is so at present, or false while nothing is to refresh by itself. */
  get refreshMs(): number | false {
    return !this.paused && this.refreshSeconds > 0 ? this.refreshSeconds * 1000 : false
  },
  /** The same for what shows the time range, which stays as it is between two instants. */
  get rangeRefreshMs(): number | false {
    return this.range.kind === 'last' && this.refreshMs
  },

  /** Choosing one ends the view of all. */
  setHost: (host: number) => change({ host: String(host), hosts: null }),
  /** Other rows than before have their own first one. */
  setRange: (range: Range) => change({ ...writeRange(range, usualHours()), offset: null }),
  /** Lets pages say how far they usually look back, by their definitions. */
  followPages: (hours: () => number | undefined) => {
    usualHours = () => hours() ?? defaultHours
  },
  /** Lets what the host tells be shown by the clock of the host. */
  followClock: (ofHost: () => number) => {
    skewMs = ofHost
  },
  /** The present by the clock of the host, in epoch milliseconds, where this browser's clock shows `nowMs`. */
  hostTime: (nowMs: number): number => nowMs + skewMs(),
  /** The range before this one, or after it. */
  shift: (parts: number) => view.setRange(shifted(view.range, parts, view.hostTime(Date.now()))),
  zoomOut: () => view.setRange(zoomedOut(view.range, view.hostTime(Date.now()))),
  setZone: (zone: ZoneChoice) => change({ zone: zone === preferences.current.zone ? null : zone }),
  setRefresh: (seconds: number) => change({ refresh: writeRefresh(seconds), paused: null }),
  setComparing: (comparing: boolean) => change({ compare: comparing ? '1' : null }),
  setPaused: (paused: boolean) => change({ paused: paused ? '1' : null }),

  /**
   * A path of this application, with parameters of its own or without, and with what the reader has chosen so far. Where the path
   * names a host or a time, that is what it leads to. Targets may come from data: one that leads to another site becomes the start page.
   */
  link(target: string, more: Record<string, string> = {}): string {
    const [path = '', own] = (ownPathOf(target) ?? '/').split('?')
    const search = new URLSearchParams(own)
    const named = new Set(search.keys())
    for (const name of kept) {
      const value = page.url.searchParams.get(name)
      if (value !== null && !named.has(name)) search.set(name, value)
    }
    if (!search.has('host')) search.set('host', '0')
    for (const [name, value] of Object.entries(more)) search.set(name, value)
    return `${path}?${search}`
  },
}

/** One parameter's new value, several of them, or null to remove it. */
export type Change = Record<string, string | readonly string[] | null>

/** Writes parameters to the URL of this page. Typing replaces the entry of the history; a choice adds one. */
export const change = (parameters: Change, { replace = false } = {}): Promise<void> => {
  const url = new URL(page.url.href)
  for (const [name, value] of Object.entries(parameters)) {
    url.searchParams.delete(name)
    for (const each of value === null ? [] : [value].flat()) url.searchParams.append(name, each)
  }
  if (url.href === page.url.href) return Promise.resolve()
  return goto(url, { replace, reset: false })
}
