import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { features } from '#proto/call.ts'
import { parseYaml } from '#shared/config/yaml.ts'

const Row = z.strictObject({
  /** As the settings reference prints it. */
  default: z.string(),
  /** As the settings reference prints it. */
  allowed: z.string(),
  /** Texts that cannot be meant: they refuse the start in words that begin so, or mean as much as none (`unset`). */
  bad: z.record(z.string(), z.string()).default({}),
  /** What is different because of the variable, seen from outside. */
  effect: z.string().min(1),
  /** The test that shows the effect: its file, and its title there. */
  test: z.string().optional(),
  title: z.string().optional(),
  /** The text that the first placeholder of the title stands for, where only one case of the test shows the effect. */
  case: z.string().optional(),
  /** The file by which that test knows the variable, where it does not name it itself. */
  named: z.string().optional(),
  /** The record of settings that is read as a whole, where nobody reads the variable by its own name. */
  readAs: z.string().optional(),
})

/** What one variable does, and the test that shows it. */
export interface VariableRow extends z.infer<typeof Row> {
  /** With `{ID}` or `<RULE_ID>` where it stands for a family. */
  name: string
}

const folder = import.meta.dirname
const readYaml = (path: string): unknown => parseYaml(readFileSync(join(folder, path), 'utf8'))

const beyond = 'beyond-the-documents.yaml'
const rowsOf = (file: string): VariableRow[] =>
  Object.entries(z.record(z.string(), Row).parse(readYaml(`variables/${file}`))).map(([name, row]) => ({
    name,
    ...row,
  }))

/** A row for each variable of the configuration reference. */
export const documentedRows = (): VariableRow[] =>
  readdirSync(join(folder, 'variables'))
    .filter((file) => file !== beyond)
    .flatMap(rowsOf)

/** A row for each variable that the product has besides. */
export const rowsBeyond = (): VariableRow[] => rowsOf(beyond)

/** The variables that a name with `{ID}` stands for; any other stands for itself. */
export const membersOf = (name: string): string[] =>
  name.includes('{ID}') ? features.map((feature) => name.replace('{ID}', feature)) : [name]
