import { createTwoFilesPatch } from 'diff'
import { z } from 'zod'
import type { changeMethods, ObjectChange } from '#proto/changes.ts'
import { type Identity, mayUseFeature } from '#proto/call.ts'
import type { Service, ServiceHandlers } from '#proto/contract.ts'
import { ServiceError } from '#proto/errors.ts'
import type { QueryHandlerDeps } from '../handler-deps.ts'

const maxDiffLength = 20_000
/** Kinds whose definitions only callers with a feature may see. */
const protectedKinds = {
  SECURITY: ['user', 'role', 'grants', 'quota', 'row-policy'],
  SETTINGS: ['setting', 'merge-tree-setting', 'server-setting', 'settings-profile'],
  TABLES: ['database', 'table', 'dictionary', 'configured-dictionary', 'function'],
  QUERIES: ['query-pattern'],
} as const

const ChangeRow = z.object({
  host: z.string(),
  kind: z.string(),
  name: z.string(),
  at: z.number(),
  definition: z.string(),
  is_removed: z.number(),
  earlier: z.string(),
  was_removed: z.number(),
  since: z.number(),
})

/** An object of the first snapshot of its kind is no change. */
const sql = `SELECT host, kind, name, toUnixTimestamp(time) AS at, definition, is_removed, earlier, was_removed, toUnixTimestamp(seen) AS since
FROM (
  SELECT host, kind, name, time, definition, is_removed,
    lagInFrame(definition) OVER object AS earlier, lagInFrame(is_removed) OVER object AS was_removed, lagInFrame(time) OVER object AS seen
  FROM {table:objects}
  WHERE host IN {hosts:Array(String)} AND name != '' AND kind NOT IN {hidden:Array(String)} AND (empty({kinds:Array(String)}) OR kind IN {kinds:Array(String)})
  WINDOW object AS (PARTITION BY host, kind, name ORDER BY time)
) AS states
INNER JOIN (
  SELECT host AS of, kind AS what, min(time) AS first FROM {table:objects}
  WHERE host IN {hosts:Array(String)} AND kind != '' AND name = '' GROUP BY of, what
) AS snapshots ON states.host = snapshots.of AND states.kind = snapshots.what
WHERE time > first AND time >= toDateTime({from:UInt32}) AND time < toDateTime({until:UInt32}) AND (definition != earlier OR is_removed != was_removed)
ORDER BY time DESC, host, kind, name
LIMIT {limit:UInt32}`

/** Returns the handler that lists the changes of hosts. */
export const createObjectChangesHandler =
  ({ history }: QueryHandlerDeps): ServiceHandlers<Service<typeof changeMethods>>['objectChanges'] =>
  async ({ hostKeys, kinds = [], fromMs, toMs, limit }, { identity }) => {
    if (!history.isEnabled) return { changes: [], isEnabled: false, problem: null }
    const hidden = hiddenKinds(identity)
    const parameters = {
      hosts: hostKeys,
      kinds,
      hidden,
      from: Math.floor(fromMs / 1_000),
      until: Math.ceil(toMs / 1_000),
      limit,
    }
    try {
      const rows = await history.select(sql, ChangeRow, parameters)
      return { changes: rows.map(toChange), isEnabled: true, problem: null }
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error
      return { changes: [], isEnabled: true, problem: error.message }
    }
  }

const hiddenKinds = (identity: Identity): string[] => [
  ...(mayUseFeature(identity, 'SECURITY') ? [] : protectedKinds.SECURITY),
  ...(mayUseFeature(identity, 'SETTINGS') ? [] : protectedKinds.SETTINGS),
  ...(mayUseFeature(identity, 'TABLES') ? [] : protectedKinds.TABLES),
  ...(mayUseFeature(identity, 'QUERIES') ? [] : protectedKinds.QUERIES),
]

const toChange = ({
  host,
  kind,
  name,
  at,
  definition,
  earlier,
  since,
  ...row
}: z.infer<typeof ChangeRow>): ObjectChange => {
  const isCreated = since === 0 || row.was_removed === 1
  const change = row.is_removed ? 'removed' : isCreated ? 'created' : 'changed'
  const patch = createTwoFilesPatch(name, name, toLines(kind, earlier), toLines(kind, definition), '', '', {
    context: 3,
  })
  return {
    hostKey: host,
    kind,
    name,
    change,
    atMs: at * 1_000,
    sinceMs: isCreated ? null : since * 1_000,
    summary: summarize(row.is_removed ? '' : definition, isCreated ? '' : earlier),
    diff: patch.slice(patch.indexOf('---'), maxDiffLength),
  }
}

const maxSummaryLength = 60

const summarize = (definition: string, earlier: string): string => {
  const isShort = [definition, earlier].every((text) => text.length <= maxSummaryLength && !text.includes('\n'))
  return isShort ? [earlier, definition].filter(Boolean).join(' to ') : ''
}

/** Splits a definition into lines, so that a diff shows the changed column or clause only. */
const toLines = (kind: string, definition: string): string => {
  if (definition === '') return ''
  const lines =
    kind === 'table'
      ? definition.replaceAll(
          /, (?=`)|\s(?=ENGINE|PARTITION BY|PRIMARY KEY|ORDER BY|TTL|SETTINGS|COMMENT)/g,
          (found) => `${found.trimEnd()}\n`,
        )
      : definition
  return `${lines}\n`
}
