import { dateTimeFields } from '#proto/http/date-times.ts'
import type { Schema } from './components.ts'

/** Formats whose pattern says no more than their name. */
const knownFormats = new Set(['date-time', 'uri', 'email', 'uuid', 'date', 'ipv4', 'ipv6', 'cidrv4', 'cidrv6'])

/** Keywords that only requests need, because clients do not validate responses. */
const constraints = ['pattern', 'minLength', 'maxLength', 'minimum', 'maximum', 'minItems', 'maxItems', 'default']

/**
 * Simplifies a schema for generators of clients: no patterns of known formats, no limits of safe integers, doubles
 * instead of numbers of any size, and responses that later releases can extend.
 */
export const simplifySchema = (schema: Schema, io: 'input' | 'output'): void => {
  if (typeof schema.format === 'string' && knownFormats.has(schema.format)) delete schema.pattern
  // Only JavaScript knows classes of characters.
  if (/\\p\{/i.test(String(schema.pattern))) delete schema.pattern
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum
  if (schema.type === 'number') schema.format = 'double'
  if (io === 'output') {
    if (schema.additionalProperties === false) delete schema.additionalProperties
    for (const keyword of constraints) delete schema[keyword]
  }
  if (schema.type === 'object' && schema.additionalProperties !== undefined) {
    delete schema.propertyNames
    if (schema.properties === undefined) delete schema.required
  }
  if (Array.isArray(schema.enum) && schema.enum.every((value) => value === null)) {
    delete schema.enum
    schema.description = 'Always null.'
  }
  // In OpenAPI 3.0, `nullable` does not extend an `enum`.
  if (schema.nullable && Array.isArray(schema.enum) && !schema.enum.includes(null)) schema.enum = [...schema.enum, null]
}

/** Returns a schema of a response with the date-times that the gateway adds beside epoch milliseconds. */
export const withDateTimes = (schema: Schema): Schema =>
  JSON.parse(JSON.stringify(schema), (_key, each: unknown) => (hasProperties(each) ? addDateTimeFields(each) : each))

type ObjectSchema = Schema & { properties: Record<string, Schema>; required?: string[] }

const hasProperties = (value: unknown): value is ObjectSchema =>
  typeof value === 'object' && value !== null && 'type' in value && value.type === 'object' && 'properties' in value

const addDateTimeFields = (schema: ObjectSchema): ObjectSchema => {
  const { properties, required = [] } = schema
  // In a histogram, which has a time of its own, `fromMs` and `toMs` are durations.
  const durations = properties.timeMs ? ['fromMs', 'toMs'] : []
  const [added, replaced]: [string[], string[]] = [[], []]
  const entries = Object.entries(properties).flatMap(([name, property]) => {
    const twin = dateTimeFields[name]
    if (twin === undefined || durations.includes(name) || !/^(number|integer)$/.test(String(property.type)))
      return [[name, property] as const]
    if (twin in properties) throw new Error(`an object with ${name} already has ${twin}`)
    if (required.includes(name)) added.push(twin)
    replaced.push(name)
    const time = { type: 'string', format: 'date-time', ...(property.nullable === true && { nullable: true }) }
    return [[name, { ...property, deprecated: true }] as const, [twin, time] as const]
  })
  return {
    ...schema,
    properties: Object.fromEntries(entries),
    // Deprecated times are optional, so that clients and examples need only the date-times.
    ...(schema.required && { required: [...required.filter((name) => !replaced.includes(name)), ...added] }),
  }
}
