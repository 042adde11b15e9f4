import { readStoredJson, writeStored } from '#lib/state/stored.ts'
import type { Routes } from './routes.ts'

/** A database that somebody brought, as this browser alone keeps it. */
export interface BroughtHost {
  id: string
  name: string
  url: string
  user: string
  password: string
}

const storedAs = 'brought-hosts'
/** More would not be looked for in a list of one's own. */
const maximumHosts = 50

export const broughtHosts = (): BroughtHost[] => {
  const kept = readStoredJson(storedAs)
  return Array.isArray(kept) ? kept.filter(isBroughtHost) : []
}

const isBroughtHost = (given: unknown): given is BroughtHost =>
  typeof given === 'object' &&
  given !== null &&
  (['id', 'name', 'url', 'user', 'password'] as const).every((name) => typeof Reflect.get(given, name) === 'string')

/** Keeps a host, in the place of the one that has its id. */
export const keepBroughtHost = (host: BroughtHost): boolean => {
  const present = broughtHosts()
  const isNew = present.every(({ id }) => id !== host.id)
  const hosts = isNew ? [...present, host] : present.map((each) => (each.id === host.id ? host : each))
  // What is open may be of the address and password before.
  session = undefined
  return writeStored(storedAs, JSON.stringify(hosts.slice(-maximumHosts)))
}

export const forgetBroughtHost = (id: string): boolean =>
  writeStored(storedAs, JSON.stringify(broughtHosts().filter((host) => host.id !== id)))

/** The brought host that a page is about, as its URL says. */
export const connectionOf = (parameters: Pick<URLSearchParams, 'get'>): string | null => parameters.get('connection')

type OpenSession = (host: BroughtHost) => Promise<Routes['POST /api/v1/browser-connections/sessions']['answer']['data']>

interface Session {
  id: string
  headers: Record<string, string>
  expiresAtMs: number
}

/** A session is opened anew so long before it ends that no request meets its end. */
const leewayMs = 60_000

let session: Promise<Session> | undefined

/** The header by which requests reach the brought host; none where the page is about the configured ones. */
export const broughtHeaders = async (open: OpenSession): Promise<Record<string, string>> => {
  const id = connectionOf(new URLSearchParams(location.search))
  if (id === null) return {}
  const known = await session?.catch(() => undefined)
  if (known?.id !== id || known.expiresAtMs - leewayMs < Date.now()) session = opened(id, open)
  return (await session)?.headers ?? {}
}

const opened = async (id: string, open: OpenSession): Promise<Session> => {
  const host = broughtHosts().find((each) => each.id === id)
  if (!host) throw new Error('This link is about a host that only the browser knows in which it was added.')
  const { token, header, expiresAt } = await open(host)
  return { id, headers: { [header]: token }, expiresAtMs: Date.parse(expiresAt) }
}
