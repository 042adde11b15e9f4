import { mapValues, toPascal } from './components.ts'
import { type Json, listOf, toJson } from './json.ts'

/** Replaces parameters that several operations have by references to one component, which has the first example.
 * Names in `taken` are those of schemas, because generators of clients declare types for both. */
export const shareParameters = (
  paths: Json,
  present: Json,
  taken: ReadonlySet<string>,
): { paths: Json; parameters: Json } => {
  const all = Object.values(paths).flatMap((item) =>
    Object.values(toJson(item)).flatMap((each) => listOf(toJson(each).parameters)),
  )
  const groups = Map.groupBy(
    all.filter(({ $ref }) => $ref === undefined),
    formatWithoutExample,
  )
  const names = new Map<string, string>()
  const shared: Json = {}
  const byFrequency = [...groups].toSorted(([, a], [, b]) => b.length - a.length)
  for (const [text, those] of byFrequency.filter(([, { length }]) => length > 1)) {
    const parameter = those.find(({ example }) => example !== undefined) ?? toJson(those[0])
    const name = listNames(parameter).find((each) => !(each in present) && !(each in shared) && !taken.has(each))
    if (name === undefined) continue
    names.set(text, name)
    shared[name] = parameter
  }
  const referred = mapValues(paths, (item) =>
    mapValues(toJson(item), (operation) => {
      const { parameters, ...others } = toJson(operation)
      const references = listOf(parameters).map((parameter) => {
        const name = names.get(formatWithoutExample(parameter))
        return name === undefined ? parameter : { $ref: `#/components/parameters/${name}` }
      })
      return references.length === 0 ? others : { ...others, parameters: references }
    }),
  )
  const sorted = Object.entries(shared).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return { paths: referred, parameters: { ...present, ...Object.fromEntries(sorted) } }
}

const formatWithoutExample = ({ example: _example, ...parameter }: Json): string => JSON.stringify(parameter)

/** Returns the names that a shared parameter can get, the shortest first. */
const listNames = ({ name: given, in: place, required, schema }: Json): string[] => {
  const name = toPascal(String(given))
  const { maximum, type } = toJson(schema)
  return [
    name,
    ...(place === 'path' ? [`${name}Path`] : []),
    ...(required === true ? [`Required${name}`] : []),
    ...(maximum === undefined ? [] : [`${name}Max${String(maximum)}`]),
    ...(type === undefined ? [] : [`${name}${toPascal(String(type))}`]),
    `${name}Parameter`,
    ...[2, 3, 4, 5].map((count) => `${name}${count}`),
  ]
}
