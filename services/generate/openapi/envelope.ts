import type { ComponentCollector, Schema } from './components.ts'
import { exportNameKeyword } from './components.ts'
import { toJson } from './json.ts'

/** A successful response that contains only `success`, `data` and `metadata`. */
interface Envelope {
  data: Schema
  /** The fields of its metadata by name. */
  metadata: Record<string, Schema>
}

/** Returns the envelope of a response; undefined if its format differs. */
export const readEnvelope = (schema: Schema): Envelope | undefined => {
  const { success, data, metadata, ...others } = toJson(schema.properties)
  const { type, properties, additionalProperties } = toJson(metadata)
  const isEnvelope = success !== undefined && data !== undefined && Object.keys(others).length === 0
  if (!isEnvelope || type !== 'object' || additionalProperties !== undefined) return undefined
  const fields = Object.entries(toJson(properties)).map(([name, field]) => [name, toJson(field)] as const)
  return { data: toJson(data), metadata: Object.fromEntries(fields) }
}

/** Formats a field so that a nullable one equals the same field that is never null. */
const formatField = ({ nullable: _nullable, ...field }: Schema): string => JSON.stringify(field)

/** Returns the fields that the metadata of several responses share, each with its most frequent schema. */
const findSharedFields = (envelopes: readonly Envelope[]): Record<string, Schema> => {
  const all = envelopes.flatMap(({ metadata }) => Object.entries(metadata))
  const fields = [...Map.groupBy(all, ([name]) => name)].flatMap(([name, those]) => {
    const schemas = those.map(([, schema]) => schema)
    const [most = []] = [...Map.groupBy(schemas, formatField).values()].toSorted((a, b) => b.length - a.length)
    const [first, second] = most
    if (first === undefined || second === undefined) return []
    return [[name, most.find(({ nullable }) => nullable === true) ?? first] as const]
  })
  return Object.fromEntries(fields.toSorted(([left], [right]) => (left < right ? -1 : 1)))
}

/**
 * Documents the envelope of responses once: a response is the component `Success` and its data. A response whose metadata
 * has fields of its own keeps a complete schema.
 */
export class EnvelopeCollector {
  readonly #collector: ComponentCollector
  readonly #shared: Record<string, Schema>

  constructor(collector: ComponentCollector, responses: readonly Schema[]) {
    this.#collector = collector
    this.#shared = findSharedFields(responses.flatMap((schema) => readEnvelope(schema) ?? []))
  }

  /** Returns the schema of a response with placeholders instead of its shapes. `name` is the name of the response. */
  collect(schema: Schema, name: string): Schema {
    const envelope = readEnvelope(schema)
    if (envelope === undefined || !this.#isShared(envelope)) return this.#collector.collect(schema, name, false)
    const exported = schema[exportNameKeyword]
    const place = (typeof exported === 'string' ? exported : name).replace(/Response$/, '')
    const data = this.#collector.collect(envelope.data, place, false)
    const own = { type: 'object', properties: { data }, required: ['data'] }
    // The name is for the case that several operations have this response.
    return { [exportNameKeyword]: `${place}Response`, allOf: [this.#success(), own] }
  }

  #isShared({ metadata }: Envelope): boolean {
    return Object.entries(metadata).every(([name, field]) => {
      const shared = this.#shared[name]
      return shared !== undefined && formatField(shared) === formatField(field)
    })
  }

  #success(): Schema {
    const metadata = {
      type: 'object',
      description: 'Fields that do not apply to an operation are absent.',
      properties: this.#shared,
      [exportNameKeyword]: 'Metadata',
    }
    const success = { type: 'boolean', description: 'Always true.' }
    const schema = { type: 'object', properties: { success, metadata }, required: ['success', 'metadata'] }
    return this.#collector.collect({ ...schema, [exportNameKeyword]: 'Success' }, 'Success', false)
  }
}
