import { z } from 'zod'
import type { ObjectKind } from '#proto/changes.ts'
import { checkRequirements } from '../clickhouse/availability.ts'
import { findClickhouseErrorCode } from '../clickhouse/failure.ts'
import type { MonitoredHost } from '../hosts/host-list.ts'
import { compareObjects, objectKey, type ObjectState, type KnownObject, readKnownObjects } from './known-objects.ts'
import { maskSecrets, maskSetting } from './mask-secrets.ts'
import { buildDigest, objectStatements, type ObjectStatement } from './object-statements.ts'
import type { SourceContext } from './sources.ts'
import type { HistoryStore } from './store.ts'
import { insertBatch, type Watermark } from './watermarks.ts'

/** How often all objects are read, even if the digest is the same. */
const snapshotSeconds = 3_600
/** Maximum objects of one kind of a host. */
export const maxObjects = 20_000
const restartKey = objectKey('restart', 'server')
const recordedKinds = [...objectStatements.map(({ kind }) => kind), 'restart']

const DigestRows = z.tuple([z.tuple([z.number(), z.number(), z.string()])])
const ObjectRows = z.array(z.tuple([z.string(), z.string()]).rest(z.number()))

/** The last digest of each host, so that an unchanged host costs one statement. */
const digests = new WeakMap<MonitoredHost, string>()

/** Records the objects of a host that changed since the last snapshot. Returns the number of recorded objects. */
export const recordObjects = async (
  history: HistoryStore,
  context: SourceContext,
  before: Watermark | undefined,
  recordedMs: number,
): Promise<number> => {
  const { host } = context
  const statements = await findReadable(context)
  const { now, startedAt, digest } = await readDigest(context, statements)
  const isAged = before === undefined || now - before.until >= snapshotSeconds || now < before.until
  const isDue = isAged || isStartedAfter(before, startedAt)
  if (!isDue && digests.get(host) === digest) return 0
  const { objects, complete } = await readObjects(context, statements)
  const known = await readKnownObjects(history, host.key, recordedKinds)
  objects.set(objectKey('restart', ''), { definition: '' })
  objects.set(restartKey, describeStart(startedAt, before, known.get(restartKey)))
  const rows = compareObjects({
    objects,
    known,
    removedAt: ({ kind }) => (complete.has(kind) ? now : undefined),
    now,
  })
  const source = { name: 'objects', table: 'objects' } as const
  await insertBatch(history, { host: host.key, source, before, period: { from: now, until: now }, rows, recordedMs })
  digests.set(host, digest)
  return rows.length
}

/** Returns the statements of the kinds that the user may read. */
const findReadable = async ({ client, host, call }: SourceContext): Promise<ObjectStatement[]> => {
  const reasons = await Promise.all(
    objectStatements.map((statement) => checkRequirements(client, host, statement, call)),
  )
  return objectStatements.filter((_, index) => reasons[index] === null)
}

type HostContext = Pick<SourceContext, 'client' | 'host' | 'call'>

/** Reads the objects of one kind, at most `maxObjects`. Secrets are masked. */
const readKind = async ({ client, host, call }: HostContext, { kind, sql, isBare }: ObjectStatement) => {
  const limited = `SELECT * FROM (${sql}) ORDER BY 1 LIMIT ${maxObjects}`
  const statement = { what: 'history/objects', sql: limited, ...(isBare && { bare: isBare }) }
  const { rows } = await client.run(host, statement, call)
  const mask = kind.endsWith('setting') ? maskSetting : (_: string, definition: string) => maskSecrets(definition)
  return ObjectRows.parse(rows).map(([name, definition, changedAt]) => ({
    name,
    definition: mask(name, definition),
    changedAt,
  }))
}

/** Reads the definitions of the objects of one kind by name, at most `maxObjects`. Secrets are masked. */
export const readObjectsOfKind = async (context: HostContext, kind: ObjectKind): Promise<Map<string, string>> => {
  const statement = objectStatements.find((each) => each.kind === kind)
  const rows = statement ? await readKind(context, statement) : []
  return new Map(rows.map(({ name, definition }) => [name, definition]))
}

/** Reads the digest. If a server rejects a part of it, changes are found by the hourly snapshot only. */
const readDigest = async ({ client, host, call }: SourceContext, statements: readonly ObjectStatement[]) => {
  const run = (sql: string) => client.run(host, { what: 'history/objects', bare: true, sql }, call)
  const { rows } = await run(buildDigest(statements)).catch((error: unknown) => {
    if (findClickhouseErrorCode(error) === undefined) throw error
    return run(buildDigest([]))
  })
  const [[now, startedAt, digest]] = DigestRows.parse(rows)
  return { now, startedAt, digest }
}

/** Returns whether the server started after the last snapshot. The computed start varies by a second. */
const isStartedAfter = (before: Watermark, startedAt: number): boolean => startedAt > before.until + 1

const describeStart = (
  startedAt: number,
  before: Watermark | undefined,
  known: KnownObject | undefined,
): ObjectState => {
  if (known && before && !isStartedAfter(before, startedAt)) return { definition: known.last }
  return { definition: new Date(startedAt * 1_000).toISOString().replace('.000', ''), changedAt: startedAt }
}

/** Reads all objects, and the kinds that were read completely. The nameless object of a kind marks its first snapshot. */
const readObjects = async ({ client, host, call }: SourceContext, statements: readonly ObjectStatement[]) => {
  const objects = new Map<string, ObjectState>()
  const complete = new Set<string>()
  for (const statement of statements) {
    const { kind } = statement
    const rows = await readKind({ client, host, call }, statement).catch((error: unknown) => {
      if (findClickhouseErrorCode(error) === undefined) throw error
      return undefined
    })
    if (rows === undefined) continue
    if (rows.length < maxObjects) complete.add(kind)
    objects.set(objectKey(kind, ''), { definition: '' })
    for (const { name, definition, changedAt } of rows)
      if (name !== '') objects.set(objectKey(kind, name), { definition, changedAt })
  }
  return { objects, complete }
}
