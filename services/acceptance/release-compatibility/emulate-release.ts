import { globSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import type { BusEvent, Method } from '#proto/contract.ts'
import { importProtoExports, isEvent, isService, readLastRelease } from '../../generate/contracts.ts'
import { root } from '../../testing/source-file.ts'
import { openValidator, createSchemaReducer } from './released-schema.ts'

/**
 * Makes a process behave like the last release: it drops newer fields, rejects messages that the release could not
 * read, and does not serve newer methods. `node --import` loads this module before the product.
 */
const emulateRelease = async (own: string | undefined): Promise<void> => {
  const { contracts } = await readLastRelease()
  // The HTTP schemas are derived from the contracts when they are loaded, so load them before changing the contracts.
  for (const file of globSync('proto/http/*.ts', { cwd: root })) await import(join(root, file))
  for (const exported of await importProtoExports()) {
    if (isEvent(exported)) replaceSchemas(exported, contracts[`event.${exported.name}`])
    if (!isService(exported)) continue
    for (const [name, method] of Object.entries(exported.methods)) {
      const known = contracts[`${exported.name}.${name}`]
      if (known !== undefined) replaceSchemas(method, known)
      // Removes only methods that this process serves. Its code still calls newer methods of other services.
      else if (exported.name === own) delete exported.methods[name]
    }
  }
}

/** Replaces each schema of a contract. A value passes the released schema first, then the current one. */
const replaceSchemas = (declared: Method | BusEvent, known: unknown): void => {
  const released = Object.entries(z.record(z.string(), z.unknown()).parse(known ?? {}))
  const present: Readonly<Record<string, unknown>> = { ...declared }
  for (const [name, schema] of released) {
    const now = present[name]
    if (now instanceof z.ZodType) Object.assign(declared, { [name]: projectSchema(schema, now) })
    if (name === 'frames' && isJsonFrames(now)) Object.assign(now, { schema: projectSchema(schema, now.schema) })
  }
}

const isJsonFrames = (value: unknown): value is { schema: z.ZodType } =>
  typeof value === 'object' && value !== null && 'schema' in value && value.schema instanceof z.ZodType

const validator = openValidator()
const projectSchema = (released: unknown, now: z.ZodType): z.ZodType => {
  const project = createSchemaReducer(released, validator)
  const known = z.unknown().transform((value, context) => {
    try {
      return project(value)
    } catch (error) {
      context.addIssue(`the last release could not read it: ${String(error)}`)
      return z.NEVER
    }
  })
  return known.pipe(now)
}

await emulateRelease(process.argv[2])
