import type { CallContext } from '#proto/call.ts'
import type { ServiceHandlers } from '#proto/contract.ts'
import { isErrorCode, ServiceError } from '#proto/errors.ts'
import type { query } from '#proto/query.ts'
import { maxSchemaDifferences, type SchemaSource } from '#proto/schema-diff.ts'
import type { QueryHandlerDeps } from '../handler-deps.ts'
import { queryEachHost } from '../hosts/query-each-host.ts'
import { compareSchemas } from './compare-objects.ts'
import { mergeGroup } from './merge-group.ts'
import { parseSchema, readCurrentSchema, readRecordedSchema, type SchemaTexts } from './read-schema.ts'

/** Returns the handler that compares two schemas. It only reads. */
export const createSchemaDiffHandler =
  (parts: QueryHandlerDeps): ServiceHandlers<typeof query>['schemaDiff'] =>
  async ({ base, target, database }, call) => {
    const [one, other] = await Promise.all([readSource(parts, base, call), readSource(parts, target, call)])
    const [before, after] = [parseSchema(one.texts, database), parseSchema(other.texts, database)]
    if (database !== undefined && !before.databases.has(database) && !after.databases.has(database)) {
      throw new ServiceError('not-found', `unknown database "${database}" on both sides`)
    }
    const { differences, statements } = compareSchemas(before, after)
    const listed = differences.slice(0, maxSchemaDifferences)
    const names = new Set(listed.map(({ name }) => name))
    return {
      differences: listed,
      statements: statements.filter(({ object }) => names.has(object)),
      total: differences.length,
      compared: { base: before.objects.size, target: after.objects.size },
      notes: [...new Set([...one.notes, ...other.notes])],
    }
  }

/** Reads one side. A host that fails is noted; if all fail, the first failure is thrown. */
const readSource = async (
  parts: QueryHandlerDeps,
  { hostKeys, atMs }: SchemaSource,
  call: CallContext,
): Promise<{ texts: SchemaTexts; notes: string[] }> => {
  const results = await queryEachHost(parts, hostKeys, call, (host, own) =>
    atMs === undefined ? readCurrentSchema(parts, host, own) : readRecordedSchema(parts, host, atMs),
  )
  const found = results.flatMap(({ host, result }) => (result ? [{ name: host.name, texts: result }] : []))
  const failures = results.flatMap(({ host, ref }) => (ref.error ? [{ name: host.name, error: ref.error }] : []))
  const [failure] = failures
  if (found.length === 0 && failure) {
    const { code } = failure.error
    throw new ServiceError(isErrorCode(code) ? code : 'unavailable', `host "${failure.name}": ${failure.error.message}`)
  }
  const { texts, notes } = mergeGroup(found)
  return { texts, notes: [...failures.map(({ name, error }) => `host "${name}": ${error.message}`), ...notes] }
}
