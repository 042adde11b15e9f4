import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'

type Schema = Readonly<Record<string, unknown>>

/** Returns a function that reduces a value to what a reader with this schema sees. It throws if parsing fails. */
export const createSchemaReducer = (schema: unknown, ajv: Ajv2020 = openValidator()): ((value: unknown) => unknown) => {
  const root = asSchema(schema)
  const checks = new Map<Schema, ValidateFunction>()
  const check = (part: Schema): ValidateFunction => {
    const known = checks.get(part) ?? ajv.compile({ ...part, $defs: root.$defs ?? {} })
    checks.set(part, known)
    return known
  }

  const project = (given: unknown, value: unknown): unknown => {
    const part = resolve(root, asSchema(given))
    const alternatives = listOf(part.anyOf ?? part.oneOf)
    if (alternatives.length > 0) {
      return project(
        alternatives.find((alternative) => check(asSchema(alternative))(value)),
        value,
      )
    }
    if (Array.isArray(value)) return value.map((item: unknown) => project(part.items, item))
    return isSchema(value) && (part.properties ?? part.additionalProperties) ? projectFields(part, value) : value
  }
  const projectFields = ({ properties, additionalProperties }: Schema, value: Schema): Schema => {
    const named = asSchema(properties)
    const fields = Object.entries(value).filter(
      ([name]) => Object.hasOwn(named, name) || isSchema(additionalProperties),
    )
    return Object.fromEntries(
      fields.map(([name, field]) => [name, project(named[name] ?? additionalProperties, field)]),
    )
  }
  return (value) => {
    const fits = check(root)
    if (!fits(value)) throw new Error(ajv.errorsText(fits.errors))
    return project(root, value)
  }
}

/** Returns a validator that compiles schemas. Several schema reducers can share it. */
export const openValidator = (): Ajv2020 => {
  const ajv = new Ajv2020({ strict: false })
  // In Node the plugin is the default export of the module, unlike what its types declare.
  formats.default(ajv)
  return ajv
}

const resolve = ({ $defs }: Schema, part: Schema): Schema => {
  const [, name] = /^#\/\$defs\/(.+)$/.exec(String(part.$ref)) ?? []
  return name === undefined ? part : asSchema(asSchema($defs)[name])
}

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])
const isSchema = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
/** Returns an object schema unchanged, otherwise `anything`. Does not copy it, because it is used as a cache key. */
const asSchema = (value: unknown): Schema => (isSchema(value) ? value : anything)
const anything: Schema = {}
