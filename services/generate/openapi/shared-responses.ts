import { mapValues, toPascal } from './components.ts'
import { type Json, toJson } from './json.ts'

/** Replaces successful responses that several operations have by references to one component. */
export const shareResponses = (paths: Json, present: Json): { paths: Json; responses: Json } => {
  const all = Object.values(paths).flatMap((item) =>
    Object.values(toJson(item)).flatMap((operation) => listResponses(toJson(operation))),
  )
  const names = new Map<string, string>()
  const shared: Json = { ...present }
  for (const [key, [first, ...others]] of Map.groupBy(all, ({ response }) => formatWithoutExample(response))) {
    if (first === undefined || others.length === 0) continue
    names.set(key, first.name)
    shared[first.name] = first.response
  }
  const replaced = mapValues(paths, (item) =>
    mapValues(toJson(item), (operation) => ({
      ...toJson(operation),
      responses: mapValues(toJson(toJson(operation).responses), (response) => {
        const name = names.get(formatWithoutExample(response))
        return name === undefined ? response : { $ref: `#/components/responses/${name}` }
      }),
    })),
  )
  return { paths: replaced, responses: shared }
}

/** Returns the responses with a body that could be shared, each with the name that it would have. */
const listResponses = ({ operationId, responses }: Json) =>
  Object.values(toJson(responses))
    .filter((response) => toJson(response).content !== undefined)
    .map((response) => ({ name: toPascal(String(operationId)), response }))

/** Formats a response so that responses that differ only in their examples are equal. */
const formatWithoutExample = (response: unknown): string =>
  JSON.stringify(response, (key, value: unknown) => (key === 'example' ? undefined : value))
