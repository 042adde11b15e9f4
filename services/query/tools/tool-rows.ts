import { readdirSync, readFileSync } from 'node:fs'
import { join, parse } from 'node:path'
import { z } from 'zod'
import { Feature, requireFeature } from '#proto/call.ts'
import { maxBufferedBytes } from '#proto/console.ts'
import type { ServiceHandlers, Service } from '#proto/contract.ts'
import { ServiceError } from '#proto/errors.ts'
import type { toolRowMethods } from '#proto/tool-rows.ts'
import { parseYaml } from '#shared/config/yaml.ts'
import { hashJson } from '#shared/evidence/recording.ts'
import { createNotFoundError } from '#shared/text/not-found.ts'
import { maxStatementMemoryBytes } from '../console/start-run.ts'
import { toIncompleteReason, findSystemTables } from '../clickhouse/show-privileges.ts'
import type { RunRegistry } from '../console/run-registry.ts'
import { expandMacros } from '../definitions/macros.ts'
import { readMaxRows } from '../pages/prepare-table-page.ts'
import type { QueryHandlerDeps } from '../handler-deps.ts'

/** The statements of one tool. Callers need its `feature` in addition to the feature of the method. */
const ToolStatements = z
  .strictObject({
    feature: Feature,
    /** An additional statement that selects the first rows of all others; its column `check` has their names. */
    combined: z.strictObject({ name: z.string(), rows: z.int().min(1) }).optional(),
    statements: z.record(z.string(), z.string()),
  })
  .transform(({ feature, combined, statements }) => ({
    feature,
    statements: new Map([
      ...Object.entries(statements),
      ...(combined ? [[combined.name, combine(statements, combined.rows)] as const] : []),
    ]),
  }))
type ToolStatements = z.infer<typeof ToolStatements>

/**
 * Returns the handler that runs a fixed statement of a tool on one host. The statement counts towards the callers'
 * limit of concurrent statements. Throws if a file with tool statements is invalid.
 */
export const createToolRowsHandler = (
  parts: QueryHandlerDeps,
  running: RunRegistry,
): ServiceHandlers<Service<typeof toolRowMethods>>['toolRows'] => {
  const tools = readToolStatements()
  return async ({ hostKey, tool, statement: name, parameters, maxRows }, call) => {
    const { hosts, client, clock } = parts
    const host = hosts.get(hostKey)
    const { feature, statements } = tools.get(tool) ?? missing('tool with statements', tool, tools.keys(), 'tool')
    requireFeature(call.identity, feature, `the tool ${tool}`)
    const template = statements.get(name) ?? missing(`statement of ${tool}`, name, statements.keys(), 'statement')
    const { logs, missingShow } = await client.capabilities(host, call)
    const limit = Math.min(maxRows, readMaxRows(parts) ?? maxRows)
    const sql = `${expandMacros(template, { window: undefined, zone: undefined, logs })}LIMIT ${limit}`
    const limits = { max_memory_usage: maxStatementMemoryBytes }
    using run = running.enter(host, call)
    const context = { ...call, signal: run.signal }
    const { columns, rows, size } = await client.run(host, { what: 'tool', sql, parameters, limits }, context)
    if (size > maxBufferedBytes)
      throw new ServiceError(
        'too-large',
        `the result of tool "${tool}" exceeds ${maxBufferedBytes} bytes; request fewer rows`,
      )
    return {
      rows: rows.map((row) => Object.fromEntries(columns.map((column, index) => [column.name, row[index]]))),
      evidence: {
        hostKey,
        statement: sql,
        parameters,
        atMs: clock.now(),
        rows: rows.length,
        rowHash: hashJson({ columns, rows }),
      },
      incomplete: toIncompleteReason(host, missingShow, findSystemTables(sql)),
    }
  }
}

/** Returns one statement that selects the first rows of each given one. Their columns must have the same types. */
const combine = (statements: Readonly<Record<string, string>>, rows: number): string => {
  const parts = Object.entries(statements).map(
    ([name, sql]) => `SELECT '${name}' AS check, * FROM (\n${sql}LIMIT ${rows})`,
  )
  // A limit after UNION ALL would apply to the last part only.
  return `SELECT * FROM (\n${parts.join('\nUNION ALL\n')}\n)\n`
}

/** Reads the statements of all tools, by tool name: the file `get-metrics.yaml` belongs to the tool `get_metrics`. */
export const readToolStatements = (): ReadonlyMap<string, ToolStatements> => {
  const files = readdirSync(import.meta.dirname).filter((file) => file.endsWith('.yaml'))
  return new Map(files.map((file) => [parse(file).name.replaceAll('-', '_'), readFile(file)]))
}

const readFile = (file: string): ToolStatements => {
  try {
    return ToolStatements.parse(parseYaml(readFileSync(join(import.meta.dirname, file), 'utf8')))
  } catch (error) {
    throw new Error(`invalid tool file "services/query/tools/${file}"`, { cause: error })
  }
}

const missing = (kind: string, name: string, known: Iterable<string>, parameter: string): never => {
  throw createNotFoundError(kind, name, known, parameter)
}
