import { mapValues, toPascal } from './components.ts'
import { type Json, listOf, toJson } from './json.ts'

/** Replaces parameters that several operations have by references to one component. */
export const shareParameters = (paths: Json, present: Json): { paths: Json; parameters: Json } => {
  const all = Object.values(paths).flatMap((item) =>
    Object.values(toJson(item)).flatMap((each) => listOf(toJson(each).parameters)),
  )
  // Path parameters have an example of their own.
  const sharable = all.filter((parameter) => parameter.$ref === undefined && parameter.in !== 'path')
  const counts = Map.groupBy(sharable, (parameter) => JSON.stringify(parameter))
  const names = new Map<string, string>()
  for (const [text, [first]] of [...counts]
    .filter(([, those]) => those.length > 1)
    .toSorted(([, a], [, b]) => b.length - a.length)) {
    const name = `${toPascal(String(first?.name))}Parameter`
    const taken = new Set([...Object.keys(present), ...names.values()])
    const free = [name, ...[2, 3, 4, 5, 6, 7, 8, 9].map((count) => `${name}${count}`)].find((each) => !taken.has(each))
    if (free !== undefined) names.set(text, free)
  }
  const shared = mapValues(paths, (item) =>
    mapValues(toJson(item), (operation) => {
      const { parameters, ...others } = toJson(operation)
      if (parameters === undefined) return others
      const references = listOf(parameters).map((parameter) => {
        const name = names.get(JSON.stringify(parameter))
        return name === undefined ? parameter : { $ref: `#/components/parameters/${name}` }
      })
      return { ...others, parameters: references }
    }),
  )
  const named = [...names].map(([text, name]) => [name, JSON.parse(text)] as const)
  return {
    paths: shared,
    parameters: { ...present, ...Object.fromEntries(named.toSorted(([a], [b]) => (a < b ? -1 : 1))) },
  }
}
