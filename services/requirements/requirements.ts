import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { parseYaml } from '#shared/config/yaml.ts'

const Test = z.strictObject({
  file: z.string(),
  /** The titles of the groups and of the test, joined by ` > `, with placeholders as in the file. */
  name: z.string(),
  /** The value of the first placeholder, if only one case of the test covers the requirement. */
  case: z.string().optional(),
})

const Entry = z.strictObject({
  /** A sentence of the document, or the part of it that states one fact. Table cells are joined by ` | `. */
  text: z.string().min(1),
  /** The tests that fail if the product violates the text. */
  tests: z.array(Test).default([]),
  /** Variables whose rows in `variables/` name the tests. */
  variables: z.array(z.string()).default([]),
  /** Why the product differs from the text on purpose. */
  deviation: z.string().optional(),
})

/** The names of the documents that form the specification. */
export const specificationDocuments = ['service', 'configuration'] as const
export type SpecificationDocument = (typeof specificationDocuments)[number]
/** A reference to a test, by file and title. */
export type RequirementTest = z.infer<typeof Test>

/** A requirement: one fact that the specification states about the product. */
export interface Requirement extends z.infer<typeof Entry> {
  /** The section and the name of the entry, such as `limits/table-rows`. */
  id: string
  document: SpecificationDocument
}

const folder = import.meta.dirname
const readIn = <T>(path: string, schema: z.ZodType<T>): T =>
  schema.parse(parseYaml(readFileSync(join(folder, path), 'utf8')))

/** Returns all requirements of a document, by section. */
export const readRequirements = (document: SpecificationDocument): Requirement[] =>
  globSync(`${document}/*.yaml`, { cwd: folder })
    .toSorted()
    .flatMap((path) =>
      Object.entries(readIn(path, z.record(z.string(), Entry))).map(([name, entry]) => ({
        ...entry,
        document,
        id: `${path.slice(0, -'.yaml'.length)}/${name}`,
      })),
    )

/** Returns all requirements of the specification. */
export const readAllRequirements = (): Requirement[] => specificationDocuments.flatMap(readRequirements)

/** Returns the texts of a document that are about the document itself and require nothing of the product. */
export const readTextsWithoutRequirement = (document: SpecificationDocument): string[] =>
  readIn('texts-without-requirement.yaml', z.record(z.enum(specificationDocuments), z.array(z.string())))[document]

const variable = /`(?<name>[A-Z][A-Z0-9]*(?:_(?:[A-Z0-9]+|\{ID\}|<RULE_ID>))+)`/g
const namesIn = (text: string): string[] => [...text.matchAll(variable)].flatMap(({ groups }) => groups?.name ?? [])

/** Returns the variables that the configuration reference names, without duplicates. */
export const readDocumentedNames = (): string[] => [
  ...new Set(readRequirements('configuration').flatMap(({ text }) => namesIn(text))),
]

/** A default that a document states for a variable. */
export interface DocumentedDefault {
  name: string
  stated: string
  requirement: Requirement
}

/** Returns the defaults in the tables of the configuration reference. */
export const readDocumentedDefaults = (): DocumentedDefault[] =>
  readRequirements('configuration').flatMap((requirement) => {
    const [names = '', stated, meaning] = requirement.text.split(' | ')
    if (stated === undefined || meaning === undefined) return []
    const listed = namesIn(names)
    const parts = partsOf(stated, listed.length)
    return listed.map((name, index) => ({ name, stated: parts[index] ?? '', requirement }))
  })

/**
 * Splits a table cell into one part per variable. If the cell applies to all variables, returns it for each of them.
 */
const partsOf = (stated: string, count: number): string[] => {
  const parts = stated.replaceAll(/ \([^)]*\)/g, '').split(/[;,] /)
  if (count > 1 && parts.length === count) return parts
  return Array.from({ length: count }, () => stated)
}
