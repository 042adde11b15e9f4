import { z } from 'zod'
import { ExplicitConnectionTarget } from '#proto/connections.ts'
import { ServiceError } from '#proto/errors.ts'
import { ManagedHostFields } from '#proto/managed-hosts.ts'
import type { Environment } from '#shared/config/environment.ts'
import type { Net } from '#shared/net/net.ts'
import { readSealKey } from '#shared/seal/config.ts'
import { seal, unseal } from '#shared/seal/seal.ts'
import { type Collection, defineCollection, openCollections } from '#shared/store/collection/collection.ts'
import type { Database } from '#shared/store/sql/connection.ts'
import type { Clock } from '#shared/time/clock.ts'
import type { Telemetry } from '#shared/telemetry/telemetry.ts'
import { unreadableCredentialsCode } from '../clickhouse/failure.ts'
import { selectNet, toGuardedHost } from '../connections/user-connections.ts'
import { maxHosts, type MonitoredHost } from '../hosts/host-list.ts'
import { type HostRegistry, repeat } from '../hosts/hosts.ts'

/** How soon a process notices hosts that another one added. */
const recheckMs = 2_000

/** A stored host. Only `query` can decrypt its address and credentials. */
const StoredHost = ManagedHostFields.extend({
  id: z.string(),
  host: z.string(),
  sealed: z.string(),
  createdAtMs: z.int(),
  updatedAtMs: z.int(),
})
type StoredHost = z.infer<typeof StoredHost>

const storedHosts = defineCollection({
  name: 'watchhouse_hosts',
  schema: StoredHost,
  columns: { createdAtMs: 'integer' },
  idOf: ({ id }) => id,
  valuesOf: (host) => host,
})

/** The encrypted part of a host. `isLocal`: it was entered on this machine, so its address may be private. */
const Content = z.object({ target: ExplicitConnectionTarget, isLocal: z.boolean() })
type Content = z.infer<typeof Content>

type HostChange = ManagedHostFields & { id: string }

/** The monitored hosts: those of the configured list, followed by those that were added at run time. */
export interface ManagedHosts extends HostRegistry {
  /** Returns why no host can be added; undefined if hosts can be added. */
  findProblem(): string | undefined
  /** Throws `conflict` if another host has this label or, if one is given, this URL. */
  requireUnused(change: Pick<HostChange, 'id' | 'label'>, url: string | undefined): void
  add(change: HostChange, content: Content): Promise<MonitoredHost>
  /** Changes a host; without `content`, its address and credentials stay the same. Throws `not-found`. */
  change(change: HostChange, content: Content | undefined): Promise<MonitoredHost>
  /** Removes a host and returns its label. Throws `not-found`. */
  remove(id: string): Promise<string>
}

interface ManagedHostsDeps {
  env: Environment
  listed: HostRegistry
  /** Undefined if this process does not open added hosts. */
  database: Database | undefined
  net: Net
  clock: Clock
  log: Telemetry['log']
  recheckEveryMs?: number
}

/** Opens the added hosts and combines them with the configured ones. Reloads them when another process changes them. */
export const openManagedHosts = async (deps: ManagedHostsDeps): Promise<ManagedHosts> => {
  const { env, listed, database, log, recheckEveryMs = recheckMs } = deps
  const added = createAddedHosts(deps)
  const shown = { list: added.list, get: added.get, requireUnused: createUseCheck(added.list) }
  if (database === undefined)
    return { ...shown, ...withoutDatabase, [Symbol.asyncDispose]: () => listed[Symbol.asyncDispose]() }

  const stored = (await openCollections('hosts', [storedHosts], database)).of(storedHosts)
  const reload = async (): Promise<void> => added.replace(await stored.list({ orderBy: 'createdAtMs' }))
  await reload()
  const rechecking = repeat(reload, recheckEveryMs, log)
  return {
    ...shown,
    findProblem: () => (readSealKey(env) ? undefined : 'SVC_USER_CONNECTIONS_ENCRYPTION_KEY is not set'),
    ...createHostChanges({ ...deps, stored, reload, list: added.list }),
    async [Symbol.asyncDispose]() {
      await rechecking[Symbol.asyncDispose]()
      await listed[Symbol.asyncDispose]()
    },
  }
}

type HostChanges = Pick<ManagedHosts, 'add' | 'change' | 'remove'>

const noDatabase =
  'the state is not kept in a database; set SVC_DATA_DIRECTORY, or SVC_STATE_DB_URL for several processes'
const rejectChange = (): Promise<never> => Promise.reject(cannotAdd(noDatabase))
const withoutDatabase: HostChanges & Pick<ManagedHosts, 'findProblem'> = {
  findProblem: () => noDatabase,
  add: rejectChange,
  change: rejectChange,
  remove: rejectChange,
}

interface HostChangesDeps extends ManagedHostsDeps {
  stored: Collection<StoredHost, { createdAtMs: 'integer' }, never>
  reload(): Promise<void>
  list(): readonly MonitoredHost[]
}

const createHostChanges = ({ env, clock, stored, reload, list }: HostChangesDeps): HostChanges => {
  const find = (id: string): MonitoredHost => {
    const host = list().find(({ managedId }) => managedId === id)
    if (host) return host
    const sentence = 'added host not found; it may have been removed'
    throw new ServiceError('not-found', sentence, { details: { parameter: 'id' } })
  }
  return {
    async add(change, content) {
      const now = clock.now()
      await stored.add([{ ...change, ...sealContent(change.id, content, env), createdAtMs: now, updatedAtMs: now }])
      await reload()
      return find(change.id)
    },
    async change(change, content) {
      find(change.id)
      const changed = { ...change, ...(content && sealContent(change.id, content, env)), updatedAtMs: clock.now() }
      await stored.change(change.id, (present) => present && { ...present, ...changed })
      await reload()
      return find(change.id)
    },
    async remove(id) {
      const { name } = find(id)
      await stored.remove({ id })
      await reload()
      return name
    },
  }
}

const sealContent = (id: string, content: Content, env: Environment): Pick<StoredHost, 'host' | 'sealed'> => {
  const key = readSealKey(env)
  if (key === undefined) throw cannotAdd('SVC_USER_CONNECTIONS_ENCRYPTION_KEY is not set')
  const { url, user, password } = content.target
  const sealed = seal(JSON.stringify({ ...content, target: { url, user, password } }), associatedData(id), key)
  return { host: new URL(url).host, sealed }
}

const createUseCheck =
  (list: () => readonly MonitoredHost[]): ManagedHosts['requireUnused'] =>
  ({ id, label }, url) => {
    const others = list().filter(({ managedId }) => managedId !== id)
    if (others.length >= maxHosts)
      throw new ServiceError('conflict', `too many hosts: the maximum is ${maxHosts}; remove one first`)
    if (others.some(({ key, name }) => key === label || name === label))
      throw conflict('label', `"${label}" is used by another host; choose another label`)
    const address = url === undefined ? undefined : URL.parse(url)?.href
    const same = others.find((host) => host.url.href === address)
    if (same) throw conflict('url', `is already monitored as "${same.name}"`)
  }

const conflict = (parameter: string, message: string): ServiceError =>
  new ServiceError('conflict', `${parameter} ${message}`, {
    details: { parameter, problems: [{ parameter, message }] },
  })

const cannotAdd = (problem: string): ServiceError =>
  new ServiceError('not-implemented', `hosts cannot be added: ${problem}`)

interface AddedHosts extends Pick<HostRegistry, 'list' | 'get'> {
  replace(documents: readonly StoredHost[]): void
}

/** Keeps the added hosts in memory. A host that did not change stays the same object, which caches use as their key. */
const createAddedHosts = ({ env, listed, net }: ManagedHostsDeps): AddedHosts => {
  let opened: { document: StoredHost; host: MonitoredHost }[] = []

  const open = (document: StoredHost): (typeof opened)[number] => {
    const known = opened.find((each) => each.document.id === document.id)
    return known?.document.updatedAtMs === document.updatedAtMs && known.document.sealed === document.sealed
      ? known
      : { document, host: openHost(document, env, net) }
  }
  const list = (): readonly MonitoredHost[] => {
    const configured = listed.list()
    if (opened.length === 0) return configured
    const taken = new Set(configured.map(({ key }) => key))
    // A host of a file or variable replaces an added one with its label.
    const shown = opened.filter(({ host }) => !taken.has(host.key))
    shown.forEach((each, index) => {
      const id = configured.length + index
      if (each.host.id !== id) each.host = { ...each.host, id }
    })
    return [...configured, ...shown.map(({ host }) => host)]
  }
  return {
    list,
    get: (key) =>
      (opened.some(({ host }) => host.key === key) && list().find((host) => host.key === key)) || listed.get(key),
    replace(documents) {
      opened = documents.map(open)
    },
  }
}

const openHost = (document: StoredHost, env: Environment, net: Net): MonitoredHost => {
  const { id, label, group, tags } = document
  const key = readSealKey(env)
  const text = key && unseal(document.sealed, associatedData(id), key)
  const identity = { key: label, name: label }
  const shown = { group, tags, managedId: id }
  if (text === undefined) {
    const target = { url: `http://${document.host}`, user: '', password: '' }
    return { ...toGuardedHost(net, target, identity), ...shown, connect: rejectConnection }
  }
  const { target, isLocal } = Content.parse(JSON.parse(text))
  return { ...toGuardedHost(selectNet(net, isLocal), target, identity), ...shown }
}

const rejectConnection: MonitoredHost['connect'] = (_options, connected) =>
  connected(Object.assign(new Error('unreadable credentials'), { code: unreadableCredentialsCode }), null)

const associatedData = (id: string): string => JSON.stringify(['managed-host', id])
