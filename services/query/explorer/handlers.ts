import type { explorerMethods } from '#proto/explorer.ts'
import type { Call } from '#proto/call.ts'
import type { Handlers, Service } from '#proto/contract.ts'
import { quoteName } from '#shared/quote.ts'
import { analysed } from '../analysis/analysis-window.ts'
import { openRun } from '../console/open-run.ts'
import { openRunning } from '../console/running.ts'
import type { Parts } from '../handlers/parts.ts'
import { readDdl } from './read-ddl.ts'
import { readDependencies } from './read-dependencies.ts'
import { type Asking, readView, type Viewed } from './read-view.ts'
import { loggedNames, queries, totalUsage, usage } from './usage.ts'
import * as views from './views.ts'
import { noneOf } from './why-empty.ts'

/** Reading some rows is meant to be instant. */
const previewSeconds = 10
const maxPreviewBytes = 8 * 1024 * 1024

/** What there is on a host, each in one statement. */
export const explorerHandlers = (parts: Parts): Handlers<Service<typeof explorerMethods>> => {
  const running = openRunning()
  const asking = (hostKey: string, call: Call): Asking => ({ parts, host: parts.hosts.get(hostKey), call })

  return {
    exploreDatabases: ({ hostKey }, call) => readView(asking(hostKey, call), views.databases, {}),
    exploreTables: ({ hostKey, database, search = '' }, call) =>
      readView(asking(hostKey, call), views.tables, { database }, { search }),
    exploreTable: async ({ hostKey, ...named }, call) =>
      single(await readView(asking(hostKey, call), views.table, named)),
    exploreColumns: ({ hostKey, ...named }, call) => readView(asking(hostKey, call), views.columns, named),
    exploreDdl: ({ hostKey, ...named }, call) => readDdl(asking(hostKey, call), named),
    exploreSkipIndexes: ({ hostKey, ...named }, call) => readView(asking(hostKey, call), views.skipIndexes, named),
    exploreProjections: async ({ hostKey, ...named }, call) => {
      const asked = asking(hostKey, call)
      const { tables } = await parts.client.capabilities(asked.host, call)
      return readView(asked, tables.has('projections') ? views.projections : views.projectionsOfParts, named)
    },
    exploreParts: ({ hostKey, inactive, limit, ...named }, call) =>
      readView(asking(hostKey, call), { ...views.parts, limit }, named, { inactive }),
    exploreDependencies: ({ hostKey, ...named }, call) => readDependencies(asking(hostKey, call), named),
    exploreUsage: async ({ hostKey, lastHours, ...named }, call) => {
      const asked = asking(hostKey, call)
      const { scope } = await analysed(parts, asked.host, { lastHours }, call)
      const { rows, unavailable } = await readView(asked, usage, named, loggedNames(named.database, named.table), scope)
      return { detail: unavailable ? null : totalUsage(rows), unavailable }
    },
    exploreQueries: async ({ hostKey, lastHours, limit, ...named }, call) => {
      const asked = asking(hostKey, call)
      const { scope } = await analysed(parts, asked.host, { lastHours }, call)
      return readView(asked, { ...queries, limit }, named, loggedNames(named.database, named.table), scope)
    },
    previewTable: async ({ hostKey, limit, ...named }, call) => {
      const query = `SELECT * FROM ${quoteName(named.database)}.${quoteName(named.table)}`
      const bounds = { maxRows: limit, maxBytes: maxPreviewBytes, maxSeconds: previewSeconds }
      try {
        return await openRun(parts, running, { hostKey, query, ...bounds, format: 'json' }, call)
      } catch (error) {
        throw (await noneOf(asking(hostKey, call), named, error)) ?? error
      }
    },
  }
}

const single = <R>({ rows: [row], unavailable }: Viewed<R>) => ({ detail: row ?? null, unavailable })
