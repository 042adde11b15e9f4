import { z } from 'zod'
import type { CallContext } from '#proto/call.ts'
import { ServiceError } from '#proto/errors.ts'
import type { QueryHandlerDeps } from '../handler-deps.ts'
import { maxObjects, readObjectsOfKind } from '../history/objects.ts'
import type { MonitoredHost } from '../hosts/host-list.ts'
import type { Schema } from './compare-objects.ts'
import type { ObjectDefinition } from './definition.ts'
import { parseDefinition } from './parse-definition.ts'

/** Names and definitions of databases and tables. */
export interface SchemaTexts {
  databases: ReadonlyMap<string, string>
  tables: ReadonlyMap<string, string>
}

const systemDatabases = new Set(['system', 'INFORMATION_SCHEMA', 'information_schema'])

/** Reads the current schema of a host. */
export const readCurrentSchema = async (
  { client }: QueryHandlerDeps,
  host: MonitoredHost,
  call: CallContext,
): Promise<SchemaTexts> => {
  const context = { client, host, call }
  const databases = await readObjectsOfKind(context, 'database')
  const tables = await readObjectsOfKind(context, 'table')
  for (const [name, definition] of await readObjectsOfKind(context, 'dictionary')) tables.set(name, definition)
  if (tables.size >= maxObjects) {
    throw new ServiceError(
      'too-large',
      `the host has more than ${maxObjects} tables; schemas of this size cannot be compared`,
    )
  }
  return { databases, tables }
}

const RecordedObject = z.object({ kind: z.string(), name: z.string(), definition: z.string(), removed: z.number() })
const FirstSnapshot = z.object({ first: z.number() })

/** Reads the schema that the history recorded for a host at a time. Throws `not-found` if the history begins later. */
export const readRecordedSchema = async (
  { history }: QueryHandlerDeps,
  host: MonitoredHost,
  atMs: number,
): Promise<SchemaTexts> => {
  const parameters = { host: host.key, at: Math.floor(atMs / 1_000) }
  const [snapshot] = await history.select(
    "SELECT toUnixTimestamp(min(time)) AS first FROM {table:objects} WHERE host = {host:String} AND name = '' AND kind IN ('', 'table')",
    FirstSnapshot,
    parameters,
  )
  if (!snapshot || snapshot.first === 0) throw new ServiceError('not-found', 'no schema is recorded for this host yet')
  if (snapshot.first > parameters.at) {
    const first = new Date(snapshot.first * 1_000).toISOString()
    throw new ServiceError('not-found', `no schema is recorded before ${first}; select a later time`)
  }
  const rows = await history.select(
    `SELECT kind, name, argMax(definition, time) AS definition, argMax(is_removed, time) AS removed
FROM {table:objects}
WHERE host = {host:String} AND kind IN ('database', 'table', 'dictionary') AND name != '' AND time <= toDateTime({at:UInt32})
GROUP BY kind, name`,
    RecordedObject,
    parameters,
  )
  const present = rows.filter(({ removed }) => !removed)
  const textsOf = (isWanted: (kind: string) => boolean) =>
    new Map(present.flatMap(({ kind, name, definition }) => (isWanted(kind) ? [[name, definition]] : [])))
  return {
    databases: textsOf((kind) => kind === 'database'),
    tables: textsOf((kind) => kind !== 'database'),
  }
}

/** Parses a schema, without the databases of the server. */
export const parseSchema = ({ databases, tables }: SchemaTexts, only: string | undefined): Schema => {
  const isCompared = (database: string): boolean =>
    !systemDatabases.has(database) && (only === undefined || database === only)
  const objects = [...tables].flatMap(([name, text]): [string, string | ObjectDefinition][] => {
    const definition = parse(text)
    const database = typeof definition === 'string' ? (name.split('.')[0] ?? '') : definition.database
    return isCompared(database) ? [[name, definition]] : []
  })
  return {
    databases: new Map([...databases].filter(([name]) => isCompared(name))),
    objects: new Map(objects),
  }
}

/** Returns the parsed definition, or its text if it cannot be parsed. */
const parse = (text: string): string | ObjectDefinition => {
  try {
    return parseDefinition(text) ?? text
  } catch {
    return text
  }
}
