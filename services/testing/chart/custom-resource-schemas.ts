import { mkdtemp, readFile, readdir, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { load } from 'js-yaml'
import { z } from 'zod'

const Description = z.object({
  spec: z.object({
    group: z.string(),
    names: z.object({ kind: z.string() }),
    versions: z.array(z.object({ name: z.string(), schema: z.object({ openAPIV3Schema: z.looseObject({}) }) })),
  }),
})

/** Converts custom resource definitions to JSON schema files, named as kubeconform expects. Returns their folder. */
export const writeCustomResourceSchemas = async (descriptions: string): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'watchhouse-kinds-'))
  for (const file of await readdir(descriptions)) {
    const { spec } = Description.parse(load(await readFile(join(descriptions, file), 'utf8')))
    const group = spec.group.split('.')[0]
    for (const { name, schema } of spec.versions) {
      const target = join(folder, `${spec.names.kind}-${group}-${name}.json`.toLowerCase())
      await writeFile(target, JSON.stringify(forbidUnknownFields(schema.openAPIV3Schema)))
    }
  }
  return folder
}

/** Returns the schema with `additionalProperties: false`, because a cluster silently drops unknown fields. */
const forbidUnknownFields = (schema: unknown): unknown => {
  if (Array.isArray(schema)) return schema.map(forbidUnknownFields)
  if (typeof schema !== 'object' || schema === null) return schema
  const inner = Object.fromEntries(Object.entries(schema).map(([name, value]) => [name, forbidUnknownFields(value)]))
  const isOpen = 'additionalProperties' in inner || inner['x-kubernetes-preserve-unknown-fields'] === true
  return isOpen || inner['type'] !== 'object' || !('properties' in inner)
    ? inner
    : { ...inner, additionalProperties: false }
}
