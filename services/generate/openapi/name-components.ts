import { ComponentCollector, mapValues, type Schema, toPascal } from './components.ts'
import type { OperationExample } from './examples.ts'
import { type Json, listOf, toJson } from './json.ts'
import { shareParameters } from './shared-parameters.ts'
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
  // Responses come first, so that a shape of requests and responses is named like a response.
  const withResponses = mapOperations(paths, (operation, name) => collectResponses(collector, operation, name))
  const collectedPaths = mapOperations(withResponses, (operation, name) =>
    collectRequest(collector, operation, name, findValues(name)),
  )
  const collectedResponses = mapValues(toJson(responses), (response, name) =>
    collectContent(collector, response, name, false),
  )
  const schemas = collector.components()
  const shared = shareParameters(collector.resolve(collectedPaths), toJson(parameters))
  return {
    ...rest,
    paths: shared.paths,
    components: {
      ...others,
      parameters: shared.parameters,
      responses: collector.resolve(collectedResponses),
      schemas,
    },
  }
}

const mapOperations = (paths: unknown, change: (operation: Json, name: string) => Json): Json =>
  mapValues(toJson(paths), (item) =>
    mapValues(toJson(item), (each) => {
      const operation = toJson(each)
      return change(operation, toPascal(String(operation.operationId)))
    }),
  )

const collectResponses = (collector: ComponentCollector, operation: Json, name: string): Json => ({
  ...operation,
  responses: mapValues(toJson(operation.responses), (response) =>
    collectContent(collector, response, `${name}Response`, false),
  ),
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
  ...(requestBody !== undefined && { requestBody: collectContent(collector, requestBody, `${name}Request`, true) }),
})

/** Collects the schemas of a request body or of a response. */
const collectContent = (collector: ComponentCollector, holder: unknown, name: string, isInput: boolean): Json =>
  mapContent(holder, ({ schema: given, ...media }) => {
    const schema = toJson(given)
    return { ...media, schema: collector.collect(isInput ? schema : withDateTimes(schema), name, isInput) }
  })

const mapContent = (holder: unknown, change: (media: Json) => Json): Json => {
  const { content, ...rest } = toJson(holder)
  return content === undefined
    ? rest
    : { ...rest, content: mapValues(toJson(content), (media) => change(toJson(media))) }
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
