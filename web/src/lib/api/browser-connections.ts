import { readStoredJson, writeStoredText } from '#lib/state/browser-storage.ts'
import type { Routes } from '#proto/http/routes.ts'

/** A database connection that is stored in this browser only. */
export interface BrowserConnection {
  id: string
  name: string
  url: string
  user: string
  password: string
}

const storageKey = 'browser-connections'
/** Maximum number of connections, as local storage is limited. */
const maxConnections = 50

export const listBrowserConnections = (): BrowserConnection[] => {
  const stored = readStoredJson(storageKey)
  return Array.isArray(stored) ? stored.filter(isBrowserConnection) : []
}

const isBrowserConnection = (value: unknown): value is BrowserConnection =>
  typeof value === 'object' &&
  value !== null &&
  (['id', 'name', 'url', 'user', 'password'] as const).every((name) => typeof Reflect.get(value, name) === 'string')

/** Saves a connection; one with the same id is replaced. Returns whether it was stored. */
export const saveBrowserConnection = (host: BrowserConnection): boolean => {
  const present = listBrowserConnections()
  const isNew = present.every(({ id }) => id !== host.id)
  const hosts = isNew ? [...present, host] : present.map((each) => (each.id === host.id ? host : each))
  // Discards the open session, because it may use the previous address or password.
  session = undefined
  return writeStoredText(storageKey, JSON.stringify(hosts.slice(-maxConnections)))
}

export const deleteBrowserConnection = (id: string): boolean =>
  writeStoredText(storageKey, JSON.stringify(listBrowserConnections().filter((host) => host.id !== id)))

/** Returns the id of the browser connection in the URL of a page, or null. */
export const readConnectionId = (parameters: Pick<URLSearchParams, 'get'>): string | null =>
  parameters.get('connection')

type OpenSession = (
  host: BrowserConnection,
) => Promise<Routes['POST /api/v1/browser-connections/sessions']['response']['data']>

interface Session {
  id: string
  headers: Record<string, string>
  expiresAtMs: number
}

/** Sessions are renewed this long before they expire, so that no request uses an expired one. */
const leewayMs = 60_000

let session: Promise<Session> | undefined

/** Returns the headers that select the browser connection of the current page; empty for configured hosts. */
export const fetchConnectionHeaders = async (open: OpenSession): Promise<Record<string, string>> => {
  const id = readConnectionId(new URLSearchParams(location.search))
  if (id === null) return {}
  const known = await session?.catch(() => undefined)
  if (known?.id !== id || known.expiresAtMs - leewayMs < Date.now()) session = createSession(id, open)
  return (await session)?.headers ?? {}
}

const createSession = async (id: string, open: OpenSession): Promise<Session> => {
  const host = listBrowserConnections().find((each) => each.id === id)
  if (!host) throw new Error('Connection not found. It is stored only in the browser in which it was added.')
  const { token, header, expiresAt } = await open(host)
  return { id, headers: { [header]: token }, expiresAtMs: Date.parse(expiresAt) }
}
