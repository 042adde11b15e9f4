import type { ToolInputProperty, ToolInputSchema } from '#lib/api/tool-server.ts'

/** A form field, derived from a property of the input schema of a tool. */
export interface ToolField {
  name: string
  kind: 'text' | 'statement' | 'number' | 'choice' | 'switch' | 'json'
  doc: string
  isRequired: boolean
  /** The initial value. Empty fields are not sent. */
  initial: string
  choices: readonly string[]
  minimum: number | undefined
  maximum: number | undefined
  maxLength: number | undefined
}

/** Returns the form fields of an input schema, required ones first. `known` provides initial values by field. */
export const createToolFields = (schema: ToolInputSchema, known: Readonly<Record<string, string>> = {}): ToolField[] =>
  Object.entries(schema.properties ?? {})
    .map(([name, property]) => {
      const defaultText = property.default === undefined ? '' : textOf(property.default)
      return {
        name,
        kind: kindOf(name, property),
        doc: property.description ?? '',
        isRequired: schema.required?.includes(name) === true && property.default === undefined,
        initial: known[name] ?? defaultText,
        choices: (property.enum ?? []).map(textOf),
        minimum: property.minimum,
        maximum: property.maximum,
        maxLength: property.maxLength,
      }
    })
    .toSorted((one, other) => Number(other.isRequired) - Number(one.isRequired))

const kindOf = (name: string, { type, enum: choices }: ToolInputProperty): ToolField['kind'] => {
  if (choices) return 'choice'
  if (type === 'integer' || type === 'number') return 'number'
  if (type === 'boolean') return 'switch'
  if (type === 'string') return name === 'sql' ? 'statement' : 'text'
  return 'json'
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))

/** Returns the arguments of a tool call. Throws an error with the name of the field if a value is invalid. */
export const parseToolArguments = (fields: readonly ToolField[], typed: Readonly<Record<string, string>>) =>
  Object.fromEntries(
    fields.flatMap((field): [string, unknown][] => {
      const text = typed[field.name] ?? ''
      return text.trim() === '' ? [] : [[field.name, valueOf(field, text)]]
    }),
  )

const valueOf = ({ name, kind }: ToolField, text: string): unknown => {
  if (kind === 'number') return Number(text)
  if (kind === 'switch') return text === 'true'
  if (kind !== 'json') return text
  try {
    return JSON.parse(text)
  } catch {
    throw new Error(`${name} must be valid JSON`)
  }
}
