import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { features } from '#proto/call.ts'
import { parseYaml } from '#shared/config/yaml.ts'

const Row = z.strictObject({
  /** The default, as the settings reference prints it. */
  default: z.string(),
  /** The allowed values, as the settings reference prints them. */
  allowed: z.string(),
  /** Invalid values, with the start of the error message. `unset` means that the value counts as unset. */
  bad: z.record(z.string(), z.string()).default({}),
  /** What the variable does, as users observe it. */
  effect: z.string().min(1),
  /** The file of the test that covers the effect. `title` is the title of that test. */
  test: z.string().optional(),
  title: z.string().optional(),
  /** The value of the first placeholder of the title, if only one case of the test covers the effect. */
  case: z.string().optional(),
  /** The file that contains the name of the variable, if the test file does not. */
  named: z.string().optional(),
  /** The setting record that is read as a whole, if no code reads the variable by its name. */
  readAs: z.string().optional(),
})

/** The effect of a variable, and the test that covers it. */
export interface VariableRow extends z.infer<typeof Row> {
  /** The variable name. It contains `{ID}` or `<RULE_ID>` for a family of variables. */
  name: string
}

const folder = import.meta.dirname
const readYaml = (path: string): unknown => parseYaml(readFileSync(join(folder, path), 'utf8'))

const beyond = 'not-in-specification.yaml'
const rowsOf = (file: string): VariableRow[] =>
  Object.entries(z.record(z.string(), Row).parse(readYaml(`variables/${file}`))).map(([name, row]) => ({
    name,
    ...row,
  }))

/** Returns a row for each variable of the configuration reference. */
export const readDocumentedRows = (): VariableRow[] =>
  readdirSync(join(folder, 'variables'))
    .filter((file) => file !== beyond)
    .flatMap(rowsOf)

/** Returns the rows of variables that the configuration reference does not document. */
export const readUndocumentedRows = (): VariableRow[] => rowsOf(beyond)

/** Returns the names of all variables of a family with `{ID}`. Any other name is returned unchanged. */
export const expandVariableFamily = (name: string): string[] =>
  name.includes('{ID}') ? features.map((feature) => name.replace('{ID}', feature)) : [name]
