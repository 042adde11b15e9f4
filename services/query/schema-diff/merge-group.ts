import { normalizeSql } from './parse-definition.ts'
import type { SchemaTexts } from './read-schema.ts'

interface HostSchema {
  name: string
  texts: SchemaTexts
}

const maxListedObjects = 20

/** Merges the schemas of the hosts of a group: each object as most hosts define it. Notes list the inconsistent ones. */
export const mergeGroup = (hosts: readonly HostSchema[]): { texts: SchemaTexts; notes: string[] } => {
  const [only, ...others] = hosts
  if (only && others.length === 0) return { texts: only.texts, notes: [] }
  const inconsistent: string[] = []
  const merge = (kind: keyof SchemaTexts): Map<string, string> => {
    const names = new Set(hosts.flatMap(({ texts }) => [...texts[kind].keys()]))
    return new Map(
      [...names].flatMap((name) => {
        const variants = countVariants(hosts, kind, name)
        const [chosen] = variants.toSorted((one, other) => other.hosts.length - one.hosts.length)
        if (variants.length > 1) inconsistent.push(describe(name, variants, chosen))
        return chosen?.definition === undefined ? [] : [[name, chosen.definition]]
      }),
    )
  }
  const texts = { databases: merge('databases'), tables: merge('tables') }
  const more = inconsistent.length - maxListedObjects
  return {
    texts,
    notes: [
      ...inconsistent.slice(0, maxListedObjects),
      ...(more > 0 ? [`${more} more objects differ within the group`] : []),
    ],
  }
}

interface Variant {
  definition: string | undefined
  hosts: string[]
}

/** Returns the different definitions of an object with their hosts; undefined for hosts that lack it. */
const countVariants = (hosts: readonly HostSchema[], kind: keyof SchemaTexts, name: string): Variant[] => {
  const variants = new Map<string, Variant>()
  for (const host of hosts) {
    const definition = host.texts[kind].get(name)
    const key = definition === undefined ? '' : normalize(definition)
    const variant = variants.get(key)
    if (variant) variant.hosts.push(host.name)
    else variants.set(key, { definition, hosts: [host.name] })
  }
  return [...variants.values()]
}

const uuid = /[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/g

const normalize = (definition: string): string => {
  try {
    return normalizeSql(definition.replaceAll(uuid, '{uuid}'))
  } catch {
    return definition
  }
}

const describe = (name: string, variants: readonly Variant[], chosen: Variant | undefined): string => {
  const different = variants.filter((variant) => variant !== chosen).flatMap(({ hosts }) => hosts)
  return `${name} differs within the group: compared without ${different.join(', ')}`
}
