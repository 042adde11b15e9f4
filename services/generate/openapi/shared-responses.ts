import { exportNameKeyword, mapValues, type Schema, toPascal } from './components.ts'
import { type Json, toJson } from './json.ts'

/** The parts of a document that contain responses. */
interface Parts {
  paths: Json
  responses: Json
  schemas: Record<string, Schema>
}

/**
 * Replaces successful responses that several operations have by references to one component. Its schema becomes a
 * component too, because some generators of clients otherwise declare one type for each operation.
 */
export const shareResponses = ({ paths, responses, schemas }: Parts): Parts => {
  const all = Object.values(paths).flatMap((item) =>
    Object.values(toJson(item)).flatMap((operation) => listResponses(toJson(operation))),
  )
  const names = new Map<string, string>()
  const shared: Parts = { paths, responses: { ...responses }, schemas: { ...schemas } }
  for (const [key, those] of Map.groupBy(all, ({ response }) => formatWithoutExample(response))) {
    const [first, second] = those
    if (first === undefined || second === undefined) continue
    const name = findFreeName(first.name, shared)
    names.set(key, name)
    // Operations with an example of their request have none of their response.
    const { response } = those.find((each) => hasExample(each.response)) ?? first
    shared.responses[name] = mapMedia(response, (media) => ({ ...media, schema: nameSchema(media.schema, shared) }))
  }
  shared.paths = mapValues(paths, (item) =>
    mapValues(toJson(item), (operation) => ({
      ...toJson(operation),
      responses: mapValues(toJson(toJson(operation).responses), (response) => {
        const name = names.get(formatWithoutExample(response))
        return name === undefined ? mapMedia(response, withoutName) : { $ref: `#/components/responses/${name}` }
      }),
    })),
  )
  return shared
}

/** Returns the responses with a body that could be shared, each with the name that it would have. */
const listResponses = ({ operationId, responses }: Json) =>
  Object.values(toJson(responses))
    .filter((response) => toJson(response).content !== undefined)
    .map((response) => ({ name: toPascal(String(operationId)), response }))

/** Formats a response so that responses that differ only in their names and examples are equal. */
const formatWithoutExample = (response: unknown): string =>
  JSON.stringify(response, (key, value: unknown) =>
    key === 'example' || key === exportNameKeyword ? undefined : value,
  )

const hasExample = (response: unknown): boolean =>
  Object.values(toJson(toJson(response).content)).some((media) => toJson(media).example !== undefined)

const mapMedia = (response: unknown, change: (media: Json) => Json): Json => {
  const { content, ...rest } = toJson(response)
  if (content === undefined) return rest
  return { ...rest, content: mapValues(toJson(content), (media) => change(toJson(media))) }
}

const withoutName = (media: Json): Json => {
  const { [exportNameKeyword]: _name, ...schema } = toJson(media.schema)
  return { ...media, schema }
}

/** Adds a named schema to the components and returns a reference to it. */
const nameSchema = (schema: unknown, shared: Parts): unknown => {
  const { [exportNameKeyword]: wanted, ...rest } = toJson(schema)
  if (typeof wanted !== 'string') return schema
  const name = findFreeName(wanted, shared)
  shared.schemas[name] = rest
  return { $ref: `#/components/schemas/${name}` }
}

/** Returns a name that no schema and no response has, because generators declare types for both. */
const findFreeName = (wanted: string, { responses, schemas }: Parts): string => {
  const taken = new Set([...Object.keys(responses), ...Object.keys(schemas)].map((name) => name.toLowerCase()))
  const free = [wanted, ...[2, 3, 4, 5].map((count) => `${wanted}${count}`)]
  return free.find((name) => !taken.has(name.toLowerCase())) ?? `${wanted}Shared`
}
