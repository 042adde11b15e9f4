import { serviceNames } from '#proto/call.ts'
import type { ServiceVariables } from './services.ts'
import type { ValueEntry } from './values-file.ts'

type Schema = Record<string, unknown>

const text = { type: 'string' }
const cidrOrName = { type: 'string', minLength: 1 }

/** Schema definitions that `$ref` keywords in comments of the values file refer to. */
const definitions = {
  host: {
    type: 'object',
    additionalProperties: false,
    required: ['url'],
    properties: {
      url: { type: 'string', pattern: '^https?://[^@]+$', description: 'Address without user and password' },
      label: { type: 'string', maxLength: 128, not: { pattern: '^user:' } },
      user: text,
      passwordKey: { type: 'string', pattern: '^[-._a-zA-Z0-9]+$' },
      group: { type: 'string', maxLength: 128 },
      tags: { type: 'array', items: cidrOrName, maxItems: 50 },
      keeperMetrics: { type: 'string', pattern: '^https?://' },
    },
  },
  cron: {
    type: 'object',
    additionalProperties: false,
    properties: {
      enabled: { type: 'boolean' },
      schedule: { type: 'string', pattern: '^(@\\w+|\\S+( \\S+){4})$' },
      deadlineSeconds: { type: 'integer', minimum: 10 },
    },
  },
}

/** Returns the JSON Schema of the values. Types come from the defaults, variable names from the service settings. */
export const createValuesSchema = (
  entries: readonly ValueEntry[],
  variables: ReadonlyMap<string, ServiceVariables>,
): Schema => {
  const ofBlock = entriesUnder(entries, 'defaults')
  const everything = [...variables.values()]
  const all = { open: everything.flatMap(({ open }) => open), secret: everything.flatMap(({ secret }) => secret) }
  const block = (known: ServiceVariables) => blockSchema(ofBlock, known)
  const services = serviceNames.map((name) => [name, block(variables.get(name) ?? { open: [], secret: [] })])
  const persistence = entriesUnder(entries, 'single').filter(({ path: [first] }) => first === 'persistence')
  const guest = block(variables.get('query') ?? all)
  const whole = objectOf(entries.filter(({ path: [first] }) => !blocksWithSeparateSchema.has(first ?? '')))
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Values of the Watchhouse chart',
    ...whole,
    properties: {
      ...Object(whole.properties),
      // Helm passes the value `global` to every subchart, so the schema must allow it.
      global: { type: 'object' },
      defaults: block(all),
      services: { type: 'object', additionalProperties: false, properties: Object.fromEntries(services) },
      guest: { $ref: '#/$defs/guest' },
      single: withProperties(block(all), Object(objectOf(persistence).properties)),
    },
    $defs: { ...definitions, guest: withProperties(guest, { enabled: { type: 'boolean' } }) },
  }
}

/** Top-level blocks whose schemas are built separately and not derived from their content in the values file. */
const blocksWithSeparateSchema = new Set(['defaults', 'services', 'guest', 'single'])

const entriesUnder = (entries: readonly ValueEntry[], name: string): ValueEntry[] =>
  entries
    .filter(({ path: [first, second] }) => first === name && second !== undefined)
    .map((entry) => ({ ...entry, path: entry.path.slice(1) }))

const withProperties = (schema: Schema, properties: object): Schema => ({
  ...schema,
  properties: { ...Object(schema.properties), ...properties },
})

const blockSchema = (entries: readonly ValueEntry[], { open, secret }: ServiceVariables): Schema => {
  const block = objectOf(entries)
  const value = { type: ['string', 'number', 'boolean'] }
  const named = (names: readonly string[], schema: Schema) => ({
    type: 'object',
    additionalProperties: false,
    properties: Object.fromEntries([...new Set(names)].toSorted().map((name) => [name, schema])),
  })
  const keys = { type: 'array', uniqueItems: true, items: { enum: [...new Set(secret)].toSorted() } }
  const secrets = { existingSecret: text, keys, values: named(secret, text) }
  return withProperties(block, {
    settings: named(open, value),
    secrets: { type: 'object', additionalProperties: false, properties: secrets },
  })
}

/** Returns the schema of an object with these entries as keys, including nested objects. */
const objectOf = (entries: readonly ValueEntry[]): Schema => {
  const here = entries.filter(({ path }) => path.length === 1)
  const properties = here.map((entry) => [entry.path[0], schemaOf(entry, entriesUnder(entries, entry.path[0] ?? ''))])
  return { type: 'object', additionalProperties: false, properties: Object.fromEntries(properties) }
}

const schemaOf = ({ fallback, doc, schema }: ValueEntry, inner: readonly ValueEntry[]): Schema => {
  const described = doc === '' ? {} : { description: doc }
  if ('$ref' in schema) return schema
  if (inner.length > 0 && schema.additionalProperties !== true) return { ...objectOf(inner), ...described, ...schema }
  return { ...described, ...('enum' in schema ? {} : { type: typeOf(fallback) }), ...schema }
}

const typeOf = (fallback: unknown): string => {
  if (Array.isArray(fallback)) return 'array'
  if (typeof fallback === 'number') return 'integer'
  return typeof fallback
}
