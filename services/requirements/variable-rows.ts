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
  /** Invalid values with the start of their error message, or `unset` if they count as unset. */
  bad: z.record(z.string(), z.string()).default({}),
  /** What the variable does, seen from outside. */
  effect: z.string().min(1),
  /** The file and title of the test that shows the effect. */
  test: z.string().optional(),
  title: z.string().optional(),
  /** The value of the first placeholder of the title, if only one case of the test shows the effect. */
  case: z.string().optional(),
  /** The file that names the variable, if the test does not. */
  named: z.string().optional(),
  /** The setting record that is read as a whole, if no code reads the variable by its name. */
  readAs: z.string().optional(),
})

/** The effect of a variable, and the test that shows it. */
export interface VariableRow extends z.infer<typeof Row> {
  /** Contains `{ID}` or `<RULE_ID>` for a family of variables. */
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

/** Returns a row for each variable of the configuration reference. */
export const documentedRows = (): VariableRow[] =>
  readdirSync(join(folder, 'variables'))
    .filter((file) => file !== beyond)
    .flatMap(rowsOf)

/** Returns a row for each further variable of the product. */
export const rowsBeyond = (): VariableRow[] => rowsOf(beyond)

/** Returns the variables of a family with `{ID}`; any other name is returned unchanged. */
export const membersOf = (name: string): string[] =>
  name.includes('{ID}') ? features.map((feature) => name.replace('{ID}', feature)) : [name]
