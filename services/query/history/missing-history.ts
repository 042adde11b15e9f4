import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { ServiceError } from '#proto/errors.ts'
import { parseYaml } from '#shared/config/yaml.ts'

const file = fileURLToPath(new URL('../../../charts/without-history.yaml', import.meta.url))
const Names = z.array(z.string()).default([])
const Entries = z.array(z.strictObject({ reason: z.string(), charts: Names, tables: Names }))

type Kind = 'chart' | 'table'
type Reasons = Readonly<Record<Kind, ReadonlyMap<string, string>>>

let known: Reasons | undefined

/** Returns why charts and table pages have no history, by name. */
export const readMissingHistory = (): Reasons => {
  if (known) return known
  const entries = Entries.parse(parseYaml(readFileSync(file, 'utf8')))
  const reasonsOf = (names: (entry: (typeof entries)[number]) => string[]) =>
    new Map(entries.flatMap((entry) => names(entry).map((name) => [name, entry.reason] as const)))
  return (known = { chart: reasonsOf(({ charts }) => charts), table: reasonsOf(({ tables }) => tables) })
}

/** Returns the failure of an unreachable host, with the reason why the history does not replace its data. */
export const explainMissingHistory = (kind: Kind, name: string, failure: unknown): unknown => {
  const reason = readMissingHistory()[kind].get(name)
  if (!(failure instanceof ServiceError) || reason === undefined) return failure
  const { code, message, details } = failure
  return new ServiceError(code, `${message}; the ${kind} has no history: ${reason}`, {
    ...(details && { details }),
    cause: failure,
  })
}
