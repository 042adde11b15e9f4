import { ComponentCollector, mapValues, type Schema, toPascal } from './components.ts'
import type { OperationExample } from './examples.ts'
import { EnvelopeCollector } from './envelope.ts'
import { type Json, listOf, toJson } from './json.ts'
import { shareParameters } from './shared-parameters.ts'
import { shareResponses } from './shared-responses.ts'
import { withDateTimes } from './simplify-schema.ts'

/** Returns the values of the parameters in the example of an operation, by its id in PascalCase. */
type FindValues = (operation: string) => OperationExample['parameters']

/** Returns the document with components instead of the shapes in its operations, and with shared parameters. */
export const nameComponents = (document: object, findValues: FindValues): Json => {
  const { paths, components, ...rest }: Json = JSON.parse(JSON.stringify(document))
  const { schemas: recursive, responses, parameters, ...others } = toJson(components)
  const ids = Object.values(toJson(paths)).flatMap((item) => Object.values(toJson(item)).map(toJson))
  const operations = ids.map(({ operationId }) => toPascal(String(operationId)))
  const reserved = new Set(operations.flatMap((name) => [`${name}Request`, `${name}Response`]))
  const collector = new ComponentCollector(
    mapValues(toJson(recursive), (schema) => withDateTimes(toJson(schema))),
    reserved,
  )
  const envelopes = new EnvelopeCollector(collector, listResponseSchemas(paths))
  // Responses come first, so that a shape of requests and responses is named like a response.
  const withResponses = mapOperations(paths, (operation, name) => collectResponses(envelopes, operation, name))
  const collectedPaths = mapOperations(withResponses, (operation, name) =>
    collectRequest(collector, operation, name, findValues(name)),
  )
  const collectedResponses = mapValues(toJson(responses), (response, name) =>
    mapSchemas(response, (schema) => collector.collect(schema, name, false)),
  )
  const schemas = collector.components()
  const taken = new Set(Object.keys(schemas))
  const withParameters = shareParameters(collector.resolve(collectedPaths), toJson(parameters), taken)
  const shared = shareResponses({
    paths: withParameters.paths,
    responses: collector.resolve(collectedResponses),
    schemas,
  })
  return {
    ...rest,
    paths: shared.paths,
    components: {
      ...others,
      parameters: withParameters.parameters,
      responses: shared.responses,
      schemas: shared.schemas,
    },
  }
}

/** Returns the schemas of all responses of operations. */
const listResponseSchemas = (paths: unknown): Schema[] => {
  const listed: Schema[] = []
  mapOperations(paths, ({ responses }) =>
    mapValues(toJson(responses), (response) =>
      mapSchemas(response, (schema) => {
        listed.push(withDateTimes(schema))
        return schema
      }),
    ),
  )
  return listed
}

const mapOperations = (paths: unknown, change: (operation: Json, name: string) => Json): Json =>
  mapValues(toJson(paths), (item) =>
    mapValues(toJson(item), (each) => {
      const operation = toJson(each)
      return change(operation, toPascal(String(operation.operationId)))
    }),
  )

const collectResponses = (envelopes: EnvelopeCollector, operation: Json, name: string): Json => ({
  ...operation,
  responses: mapValues(toJson(operation.responses), (response) =>
    shortenMetadata(mapSchemas(response, (schema) => envelopes.collect(withDateTimes(schema), `${name}Response`))),
  ),
})

/** Keeps only the cursor of shared metadata in examples, because no other field is required. */
const shortenMetadata = (response: Json): Json =>
  mapMedia(response, (media) => {
    const example = toJson(media.example)
    const { nextCursor } = toJson(example.metadata)
    if (toJson(media.schema).allOf === undefined || example.metadata === undefined) return media
    return { ...media, example: { ...example, metadata: nextCursor === undefined ? {} : { nextCursor } } }
  })

const isDocumented = ({ schema }: Json): boolean => !('x-undocumented' in toJson(schema))

const collectRequest = (
  collector: ComponentCollector,
  { requestBody, parameters, ...operation }: Json,
  name: string,
  values: OperationExample['parameters'],
): Json => ({
  ...operation,
  ...(parameters !== undefined && {
    parameters: listOf(parameters)
      .filter(isDocumented)
      .map((parameter) =>
        parameter.$ref === undefined
          ? describeParameter(parameter, values, (schema) =>
              collector.collect(schema, `${name}${toPascal(String(parameter.name))}`, true),
            )
          : parameter,
      ),
  }),
  ...(requestBody !== undefined && {
    requestBody: mapSchemas(requestBody, (schema) => collector.collect(schema, `${name}Request`, true)),
  }),
})

/** Changes the schemas of a request body or of a response. */
const mapSchemas = (holder: unknown, change: (schema: Schema) => Schema): Json =>
  mapMedia(holder, (media) => ({ ...media, schema: change(toJson(media.schema)) }))

const mapMedia = (holder: unknown, change: (media: Json) => Json): Json => {
  const { content, ...rest } = toJson(holder)
  if (content === undefined) return rest
  return { ...rest, content: mapValues(toJson(content), (media) => change(toJson(media))) }
}

/** Returns a parameter with its description, and with an example if it is required. */
const describeParameter = (
  { schema, ...parameter }: Json,
  values: OperationExample['parameters'] = {},
  collect: (schema: Schema) => Schema,
): Json => {
  const { description, deprecated, ...rest } = toJson(schema)
  const value = values[String(parameter.name)]
  return {
    ...parameter,
    ...(description !== undefined && { description }),
    ...(deprecated === true && { deprecated }),
    schema: collect(rest),
    ...(parameter.required === true && value !== undefined && { example: toTyped(value, rest) }),
  }
}

/** Returns the value of a parameter in the type of its schema. */
const toTyped = (value: string | string[], { type }: Schema): unknown => {
  if (type === 'integer') return Number(value)
  return type === 'array' ? [value].flat() : value
}
