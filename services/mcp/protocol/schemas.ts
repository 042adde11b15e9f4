import type { StandardSchemaWithJSON } from '@modelcontextprotocol/server'
import { z } from 'zod'

/**
 * A schema that tells its JSON Schema as it was made once, in as few words as do: every word of every tool is read by every
 * model that connects.
 */
export const told = <S extends z.ZodObject>(
  schema: S,
  io: 'input' | 'output',
): StandardSchemaWithJSON<z.input<S>, z.output<S>> => {
  const json = briefly(schema, io)
  const jsonSchema = { input: () => json, output: () => json }
  return { '~standard': { ...schema['~standard'], jsonSchema } }
}

/**
 * JSON Schema without its dialect, which the protocol fixes, and of answers without what only a strict reader needs: that nothing else
 * is in them, and that everything is. What a tool answers is held against the whole schema before it leaves.
 */
export const briefly = (schema: z.ZodObject, io: 'input' | 'output'): Record<string, unknown> => {
  const { $schema: _dialect, ...json } = z.toJSONSchema(schema, {
    io,
    override: ({ jsonSchema }) => {
      if (io === 'input') return
      delete jsonSchema.additionalProperties
      delete jsonSchema.required
      mayBeNull(jsonSchema)
    },
  })
  return json
}

/** An object or null in one schema instead of three. */
const mayBeNull = (schema: z.core.JSONSchema.BaseSchema): void => {
  const [given, absent, ...others] = schema.anyOf ?? []
  if (given?.type !== 'object' || absent?.type !== 'null' || others.length > 0) return
  delete schema.anyOf
  Object.assign(schema, given, { type: ['object', 'null'] })
}
