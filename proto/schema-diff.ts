import { z } from 'zod'
import { rpc } from './contract.ts'
import { HostKey, hostDataReaders } from './host.ts'

/** Maximum number of hosts of a group whose schemas are read. */
export const maxSchemaHosts = 64
/** Maximum number of different objects in one response. */
export const maxSchemaDifferences = 500

/** One side of a schema diff: hosts that should be equal, now or at an earlier time. */
export const SchemaSource = z.object({
  hostKeys: z.array(HostKey).min(1).max(maxSchemaHosts),
  /** Epoch milliseconds of the recorded schema; absent for the current schema of the hosts. */
  atMs: z.number().int().min(0).optional(),
})
export type SchemaSource = z.infer<typeof SchemaSource>

/** The kinds of compared objects. */
export const schemaObjectKinds = ['database', 'table', 'view', 'materialized-view', 'dictionary'] as const
export type SchemaObjectKind = (typeof schemaObjectKinds)[number]

/** An object whose definition differs. */
export const SchemaDifference = z.object({
  kind: z.enum(schemaObjectKinds),
  /** The name, with the database of a table. */
  name: z.string(),
  /** What the statements do with the object: it exists only in the target, only in the base, or differs. */
  change: z.enum(['created', 'changed', 'removed']),
  /** From the base to the target, as a unified diff. Secrets are masked. */
  diff: z.string(),
})
export type SchemaDifference = z.infer<typeof SchemaDifference>

/**
 * The risk of a statement: `safe` changes metadata only, `rewrite` also rewrites stored data, `data-loss` removes data,
 * and `manual` has to be completed before it can run.
 */
export const schemaRisks = ['safe', 'rewrite', 'data-loss', 'manual'] as const
export type SchemaRisk = (typeof schemaRisks)[number]

/** A statement to review. It is never executed by the product. */
export const SchemaStatement = z.object({
  /** Name of the object that the statement changes, as in `SchemaDifference`. */
  object: z.string(),
  sql: z.string(),
  risk: z.enum(schemaRisks),
  /** Consequences and preconditions; empty if there are none. */
  note: z.string(),
})
export type SchemaStatement = z.infer<typeof SchemaStatement>

/** Methods that compare schemas. */
export const schemaDiffMethods = {
  schemaDiff: rpc({
    doc: 'Compares the schemas of hosts, groups or times, with the statements that turn the base into the target.',
    callers: hostDataReaders,
    feature: 'TABLES',
    safe: true,
    input: z.object({
      base: SchemaSource,
      target: SchemaSource,
      /** Only this database; all if absent. */
      database: z.string().max(256).optional(),
    }),
    output: z.object({
      differences: z.array(SchemaDifference),
      /** All statements in the order in which they have to run. */
      statements: z.array(SchemaStatement),
      /** Number of different objects; higher than the number of listed ones if there are too many. */
      total: z.int().min(0),
      /** Number of objects of the base and of the target. */
      compared: z.object({ base: z.int().min(0), target: z.int().min(0) }),
      /** What the comparison lacks: hosts without data, and objects that differ within a group. */
      notes: z.array(z.string()),
    }),
  }),
}
